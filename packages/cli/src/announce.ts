import { styleText } from 'node:util'

/** Standard error, since standard output is for the log. */
export interface AnnouncementOutput {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export interface Announcements {
  /** One line of progress. On a terminal it also becomes the text beside the spinner. */
  progress(line: string): void
  /** Ends the progress without a message. */
  clear(): void
  /** A permanent message: lines for a person, or facts as one JSON object. */
  say(message: string, options?: { readonly lines?: readonly string[]; readonly facts?: object }): void
  /** A message like the others, for the reason why the command ends. */
  fail(message: string): void
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 80
/** Of pino, which writes the log. */
const LEVEL = { info: 30, fatal: 60 }
const CLEAR_LINE = '\r\u001b[K'

/** Messages of a long-running command: text on a terminal, one JSON object a line elsewhere or with `json`. */
export function createAnnouncements({
  output = process.stderr,
  json = false,
}: { readonly output?: AnnouncementOutput; readonly json?: boolean } = {}): Announcements {
  return output.isTTY && !json ? forPeople(output) : forPrograms(output)
}

function forPrograms(output: AnnouncementOutput): Announcements {
  const write = (msg: string, facts: object = {}, level = LEVEL.info) =>
    output.write(`${JSON.stringify({ level, time: Date.now(), msg, ...facts })}\n`)
  return {
    progress: (line) => void write(line),
    clear: () => undefined,
    say: (message, { facts } = {}) => void write(message, facts),
    fail: (message) => void write(message, {}, LEVEL.fatal),
  }
}

function forPeople(output: AnnouncementOutput): Announcements {
  let spinner: NodeJS.Timeout | undefined
  let text = ''
  const stop = () => {
    if (spinner === undefined) return
    clearInterval(spinner)
    spinner = undefined
    output.write(CLEAR_LINE)
  }
  const spin = () => {
    let frame = 0
    const draw = () => {
      const sign = FRAMES[frame++ % FRAMES.length] ?? ''
      output.write(`${CLEAR_LINE}${styleText('cyan', sign)} ${text}`)
    }
    draw()
    spinner = setInterval(draw, FRAME_MS).unref()
  }
  return {
    progress(line) {
      stop()
      text = line
      spin()
    },
    clear: stop,
    say(message, { lines = [message] } = {}) {
      stop()
      output.write(`${lines.join('\n')}\n`)
    },
    fail(message) {
      stop()
      output.write(`${message}\n`)
    },
  }
}
