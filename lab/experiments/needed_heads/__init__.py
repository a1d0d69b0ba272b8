"""Which heads does it need?"""
