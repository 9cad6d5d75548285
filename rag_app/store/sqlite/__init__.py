"""The store on SQLite: a folder with one database, which is the truth, and derived files."""
