"""The lessons' and benches' figures as functions of a trace, for the pages and for notebooks alike.

    import lab
    from lab.figures.attention import attention_map
    trace = lab.trace(lab.load_model("lab-minilm"), "The cat sat on the mat.")
    attention_map(trace, layer=0, head=2)            # a notebook draws it
    attention_map(trace, layer=0, head=2).table()    # its numbers

Each function takes arguments that code can write down (a trace, numbers, names) and returns a
:class:`lab.charts.base.figure.Figure`; :mod:`lab.figures.notebook` turns such a call into a notebook.
"""
