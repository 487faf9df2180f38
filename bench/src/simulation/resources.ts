import type { Timeline } from './timeline.ts'

type Done = () => void

/** Work is cut into slices, so that short work does not wait behind long work: nearly processor sharing. */
const SLICE_MS = 0.5

/** The cores of one machine. */
export class Cores {
  busyMs = 0
  readonly #timeline: Timeline
  readonly #waiting: { left: number; readonly done: Done }[] = []
  #free: number

  constructor(timeline: Timeline, cores: number) {
    this.#timeline = timeline
    this.#free = cores
  }

  use(milliseconds: number, done: Done): void {
    this.#waiting.push({ left: milliseconds, done })
    this.#start()
  }

  #start(): void {
    for (; this.#free > 0; this.#free--) {
      const next = this.#waiting.shift()
      if (!next) return
      const slice = Math.min(next.left, SLICE_MS)
      this.busyMs += slice
      this.#timeline.after(slice, () => {
        this.#free++
        next.left -= slice
        if (next.left > 0) this.#waiting.push(next)
        else next.done()
        this.#start()
      })
    }
  }
}

/** One thing at a time, in order: an event loop, or a row that is locked. */
export class Turnstile {
  readonly #waiting: ((leave: Done) => void)[] = []
  #isTaken = false

  /** Calls when it is our turn; the next one comes when we leave. */
  enter(act: (leave: Done) => void): void {
    this.#waiting.push(act)
    if (!this.#isTaken) this.#next()
  }

  #next = (): void => {
    const act = this.#waiting.shift()
    this.#isTaken = act !== undefined
    act?.(this.#next)
  }
}

/** A log that is made durable by one flush after the other; whoever comes during one shares the next. */
export class Flusher {
  readonly #timeline: Timeline
  readonly #milliseconds: number
  #waiting: Done[] = []
  #isFlushing = false

  constructor(timeline: Timeline, milliseconds: number) {
    this.#timeline = timeline
    this.#milliseconds = milliseconds
  }

  flush(done: Done): void {
    this.#waiting.push(done)
    if (!this.#isFlushing) this.#start()
  }

  #start(): void {
    const sharing = this.#waiting
    this.#waiting = []
    this.#isFlushing = sharing.length > 0
    if (!this.#isFlushing) return
    this.#timeline.after(this.#milliseconds, () => {
      for (const done of sharing) done()
      this.#start()
    })
  }
}
