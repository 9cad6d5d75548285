"""Old and new forms of kanji: 國 is searched as 国, 髙 as 高. Pure.

``國立圖書館`` and ``国立図書館`` have the same search terms, and a name is found however a
register writes it. Where one new form replaced several characters (弁 for 辨, 瓣 and 辯), all
are the new one.
"""

from __future__ import annotations

import re

# The form in use, then those that it replaced: the Japanese lists of 1946 to 2010, forms that
# names keep, and radicals that PDFs put in place of the kanji that look alike. Characters of
# the compatibility blocks are missing, as NFKC replaces them; it leaves those that are here.
_FORMS = """
亜亞 悪惡 圧壓 囲圍 為爲 医醫 壱壹 稲稻 飲飮 隠隱 営營 栄榮 衛衞 駅驛 円圓 塩鹽 艶艷 縁緣 応應
欧歐 殴毆 桜櫻 奥奧 横橫 温溫 穏穩 仮假 価價 画畫 会會 絵繪 壊壞 懐懷 拡擴 殻殼 覚覺 学學 岳嶽
楽樂 缶罐 巻卷 陥陷 勧勸 寛寬 関關 歓歡 観觀 気氣 既旣 帰歸 偽僞 戯戲 犠犧 旧舊 拠據 挙擧 虚虛
峡峽 挟挾 狭狹 郷鄕 暁曉 区區 駆驅 勲勳 薫薰 径徑 茎莖 恵惠 掲揭 渓溪 経經 蛍螢 軽輕 継繼 鶏鷄雞
芸藝 撃擊 欠缺 県縣 倹儉 剣劍劒剱 険險 圏圈 検檢 献獻 権權 顕顯 験驗 厳嚴 効效 広廣 恒恆 黄黃⻩
鉱鑛礦 号號 国國 黒黑 済濟 砕碎 斎齋 剤劑 桟棧 雑雜襍 参參 惨慘 賛贊 蚕蠶 残殘 糸絲 歯齒⻭ 児兒
辞辭 湿濕 実實 舎舍 写寫 釈釋 寿壽 収收 従從 渋澁澀 獣獸 縦縱 粛肅 処處 叙敍敘 将將 称稱 焼燒 証證
奨奬獎 条條 状狀 乗乘 浄淨 剰剩 畳疊疉 嬢孃 譲讓 醸釀 触觸 嘱囑 真眞 寝寢 慎愼 尽盡 図圖 粋粹 酔醉
穂穗 随隨 髄髓 枢樞 数數 瀬瀨 声聲 静靜 斉齊⻫ 窃竊 摂攝 専專 浅淺 戦戰 践踐 銭錢 潜潛濳 繊纖 禅禪
双雙 壮壯 争爭 荘莊 捜搜 挿插 装裝 総總緫 騒騷 増增 蔵藏 臓臟 即卽 属屬 続續 堕墮 対對 体體軆躰
帯帶 滞滯 台臺 滝瀧 択擇 沢澤 担擔 単單 胆膽 団團 断斷 弾彈 遅遲 痴癡 虫蟲 鋳鑄 昼晝 庁廳 聴聽
徴徵 勅敕 鎮鎭 逓遞 鉄鐵銕 転轉 点點 伝傳 党黨 盗盜 灯燈 当當 闘鬪 徳德 独獨 読讀 届屆 弐貳 悩惱
脳腦 覇霸 拝拜 廃廢 売賣 麦麥⻨ 発發 髪髮 抜拔 晩晚 蛮蠻 秘祕 浜濱濵 瓶甁 払拂 仏佛 併倂 並竝 餅餠
辺邊邉 変變 弁辨瓣辯 歩步 宝寶寳 豊豐 褒襃 翻飜 毎每 万萬 満滿 麺麵 黙默 弥彌 訳譯 薬藥 与與 予豫
余餘 誉譽 揺搖 様樣 謡謠 来來 頼賴 乱亂 覧覽 竜龍⻯ 両兩 猟獵 緑綠 涙淚 塁壘 礼禮 励勵 戻戾 霊靈
隷隸 齢齡 暦曆 歴歷 恋戀 錬鍊 炉爐 労勞 郎郞 楼樓 録錄 湾灣 亀龜⻲ 巣巢 焔焰 尭堯 槙槇 遥遙 瑶瑤
桧檜 祢禰 祷禱 穣穰 萌萠 晋晉 凛凜 曽曾 痩瘦 箪簞 蝉蟬 頬頰 嚢囊 掴摑 填塡 剥剝 噛嚙 屏屛 繋繫
蒋蔣 醤醬 蝋蠟 鴎鷗 涜瀆 撹攪 涛濤 薮藪 篭籠 鹸鹼 麹麴 靭靱 讃讚 鈎鉤 舗舖 姫姬 研硏 娯娛 呉吳
清淸 青靑⻘ 値值 教敎 説說 税稅 鋭銳 脱脫 悦悅 閲閱 概槪 冊册 姉姊 産產 顔顏 彦彥 絶絕 歳歲 戸戶
涼凉 査查 棲栖 桑桒 尚尙 兎兔 竃竈 侠俠 高髙 吉𠮷 富冨 峰峯 館舘 角⻆ 橋槗 野埜 長⻑ 西⻄ 民⺠
鬼⻤ 食⻝⻞ 虎⻁ 骨⻣ 臼⺽ 隣鄰 崎﨑嵜 柳栁 島嶋嶌
"""
_IN_USE = {old: forms[0] for forms in _FORMS.split() for old in forms[1:]}
# Which of its drawn forms a character has is marked by a variation selector behind it.
_OLD = re.compile(f"[{''.join(_IN_USE)}\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def with_new_kanji(text: str) -> str:
    """Return a text with old forms of kanji replaced and variation selectors left out.

    Args:
        text: in the Unicode form NFKC.
    """
    return _OLD.sub(_in_use, text)


def _in_use(match: re.Match[str]) -> str:
    return _IN_USE.get(match[0], "")
