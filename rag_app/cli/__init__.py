"""The command line: a file for each group of commands, errors become exit codes."""
