from pi_daemon.cli import main

main()
