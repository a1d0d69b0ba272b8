from lab.ui.lesson import open_lesson

page = open_lesson("9_Masked_language_model.py")
trace = page.trace()
page.head_controls(trace.model)
page.prove()
page.finish()
