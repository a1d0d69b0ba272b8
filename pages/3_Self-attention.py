from lab.ui.lesson import open_lesson

page = open_lesson("3_Self-attention.py")
trace = page.trace()
page.head_controls(trace.model)
page.prove()
page.finish()
