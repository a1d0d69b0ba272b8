"""x"""
import pandas as pd
def table(values, rows, columns, *, causal=False):
    return pd.DataFrame(values)
