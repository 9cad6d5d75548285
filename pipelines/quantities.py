"""Whether a question asks for a quantity: an amount, a number, a share, how it changed.

Words, not a grammar: what is asked for by a number is called so in the question. A question
that is taken for one by mistake loses nothing where its passages hold no tables.
"""

from __future__ import annotations

import re
from itertools import pairwise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What follows "how": "how long" asks for a number, "how" alone for a way.
_HOW = _words(
    """
    much many few large big small high low long short far fast slow heavy light deep old tall wide
    thick hot cold often
    """
)

_QUANTITIES = _words(
    """
    amount amounts total totals sum sums subtotal number numbers count counts quantity quantities
    percentage percentages percent proportion ratio ratios rate rates average averages mean median
    maximum minimum max min value values level levels size sizes score scores balance balances
    share shares calculate compute

    highest lowest largest smallest biggest

    increase increases increased increasing decrease decreases decreased decreasing decline
    declines declined grow grows growth grew grown growing rise rises rose risen fall falls fell
    fallen drop drops dropped change changes changed reduction reductions improve improves improved
    improving compare compares compared

    cost costs price prices fee fees charge charges revenue revenues sales income incomes earnings
    profit profits loss losses gain gains expense expenses expenditure expenditures spend spends
    spent spending pay pays paid budget budgets salary salaries wage wages tax taxes debt debts
    asset assets liability liabilities equity cash capital margin margins dividend dividends
    turnover inventory inventories receivables payables depreciation amortization amortisation
    interest ebitda ebit eps capex opex cogs roa roe roi financials proceeds

    usd eur gbp jpy dollar dollars euro euros pound pounds yen cents thousand thousands million
    millions billion billions

    temperature temperatures pressure pressures voltage voltages power torque torques weight
    weights mass length lengths width widths height heights depth depths diameter diameters
    thickness capacity capacities volume volumes speed speeds frequency frequencies distance
    distances duration dimension dimensions tolerance tolerances density concentration dose doses
    dosage accuracy
    """
)

_JAPANESE_QUANTITIES = _words(
    """
    いくら いくつ どのくらい どれくらい どのぐらい どれぐらい どれだけ どの程度
    何円 何人 何名 何件 何個 何台 何本 何枚 何社 何点 何回 何度 何倍 何割
    何% 何パーセント 何ポイント 何時間 何分 何秒 何日 何週間 何年間 何歳
    何か月 何ヶ月 何カ月 何ヵ月 何メートル 何キロ 何トン 何グラム 何リットル

    割合 比率 利率 税率 利益率 成長率 増加率 減少率 伸び率 回転率 稼働率 離職率
    還元率 配当性向 金額 総額 合計 総計 総数 数量 件数 人数 台数 個数 回数 日数
    年数 時間数 点数 平均 最大 最小 最高 最低

    増加 減少 増減 推移 増えた 増えま 減った 減りま 伸びた 伸びま
    前年比 前期比 前年同期比 対前年

    売上 売り上げ 営業収益 利益 損失 損益 費用 経費 原価 収益 収入 支出 残高 資産
    負債 資本 借入金 配当 株価 価格 料金 単価 賃金 給与 年収 月給 報酬 税額 手数料
    予算 億円 万円 千円

    重量 重さ 寸法 容量 体積 温度 気温 水温 圧力 電圧 電流 消費電力 トルク 速度
    速さ 長さ 高さ 深さ 厚さ 面積 距離 周波数 濃度 密度
    """
)

_LATIN_WORD = re.compile(r"[a-z]+")
_AMOUNT_SIGN = re.compile("[%％$€£¥￥]")


def asks_for_quantity(question: str) -> bool:
    """Tell whether a question, English or Japanese, asks for a quantity.

    >>> asks_for_quantity("How much did the ground works cost?")
    True
    >>> asks_for_quantity("Who is the auditor?")
    False
    """
    if _AMOUNT_SIGN.search(question):
        return True
    words = _LATIN_WORD.findall(question.casefold())
    if not _QUANTITIES.isdisjoint(words):
        return True
    if any(first == "how" and second in _HOW for first, second in pairwise(words)):
        return True
    return any(word in question for word in _JAPANESE_QUANTITIES)
