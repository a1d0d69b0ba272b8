from lab.ui import shell

shell.run()
