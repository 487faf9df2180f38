/** Limits of the desk. */

/** How long the printed link can be used, once. */
export const LINK_VALID_MS = 600_000
/** Earlier links that the desk recognizes, to say why they do not work any more. */
export const REMEMBERED_LINKS = 100
/** How long a browser stays signed in. */
export const SESSION_VALID_MS = 28_800_000
/** Browsers that are signed in at the same time. */
export const MAXIMUM_SESSIONS = 10
/** Wrong passphrases in a period. Afterwards the desk refuses every passphrase until the period is over. */
export const MAXIMUM_WRONG_PASSPHRASES = 5
export const PASSPHRASE_PERIOD_MS = 900_000

/** An answer is the largest form. */
export const MAXIMUM_FORM_BYTES = 262_144
export const MAXIMUM_FORM_FIELDS = 200
/** Rows of a list in a form. */
export const MAXIMUM_ROWS = 10
export const MAXIMUM_CONNECTIONS = 64
export const REQUEST_TIMEOUT_MS = 30_000

/** Newest events that the overview groups into threads, in each state. */
export const SHOWN_EVENTS = 500
export const SHOWN_THREADS = 25
/** Newest conversations that the first page of a folder reads for answers that are due. */
export const OVERVIEW_THREADS = 100
/** Pages of the list of conversations. */
export const MAXIMUM_THREAD_PAGES = 40
/** Events that are read for each thread of a longer list. */
export const EVENTS_OF_A_THREAD = 20
/** Threads that a page reads at the same time. */
export const THREADS_AT_ONCE = 8
/** Opened objects that stay in memory while the desk runs. */
export const REMEMBERED_OBJECTS = 1_000
/** Items of a part of a story; what is left out is counted. */
export const SHOWN_ITEMS = 8
/** Entries of the conversation on the page of a story. */
export const SHOWN_ENTRIES = 25
/** Longer texts are shortened on the page of a story; the page of the package has them in full. */
export const SHOWN_CHARACTERS = 240
export const SHOWN_SENT_DRAFTS = 25
/** Open drafts on a page of the list. */
export const SHOWN_DRAFTS = 50
/** Deeper values are shown as JSON. */
export const MAXIMUM_SHOWN_DEPTH = 4
/** How long a draft's page waits for what the checks need from the exchange. */
export const CHECK_WAIT_MS = 5_000
/** Answers, drafts and packages of each kind that the overview lists, and with the link below such a list. */
export const SHOWN_WAITING = 25
export const MAXIMUM_WAITING_ROWS = 100
/** How long the overview waits for the content of its threads. */
export const OVERVIEW_WAIT_MS = 4_000
/** Verdicts of threads that stay in memory, how long one counts, and how long a page waits for one. */
export const REMEMBERED_VERDICTS = 200
export const VERDICT_VALID_MS = 60_000
export const VERDICT_WAIT_MS = 2_000
/** Lines of each part of the evidence of a thread; the printable report has all. */
export const SHOWN_EVIDENCE_LINES = 25
/** Packages whose content one file for an auditor can show, the newest ones. */
export const MAXIMUM_DISCLOSED = 100
/** Conversations that a search reads, newest first, and how long it may take. */
export const SEARCHED_THREADS = 100
export const SEARCH_WAIT_MS = 8_000
export const SHOWN_RESULTS = 50
/** A key that ends within this time waits for a person. */
export const KEY_ENDS_MS = 14 * 86_400_000
/** How long the overview waits for the directory of keys. */
export const KEYS_WAIT_MS = 3_000
/** How long the overview waits for new events. */
export const POLL_WAIT_MS = 3_000
/** Interval at which a desk that is open in a browser looks for new drafts and events. */
export const CHANGES_POLL_MS = 3_000
/** Pages that update themselves at the same time. */
export const MAXIMUM_LIVE_PAGES = 16
