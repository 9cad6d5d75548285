"""Language models: clients, calls and their errors. Imported only when one is named."""
