"""What is known of all session files, kept over restarts: a listing's rows, the text of messages, the heads of large
sessions. All of it can be had again from the files, and none of it counts where a file says otherwise."""
