/** Virtual time: a binary heap of callbacks, ordered by due time and then by insertion. */
export class Timeline {
  now = 0
  readonly #heap: { readonly at: number; readonly order: number; readonly act: () => void }[] = []
  #order = 0

  /** Schedules `act` this many milliseconds from now. */
  after(milliseconds: number, act: () => void): void {
    this.#heap.push({ at: this.now + milliseconds, order: this.#order++, act })
    this.#rise(this.#heap.length - 1)
  }

  /** Advances time until the heap is empty or `until` is reached. */
  run(until = Number.POSITIVE_INFINITY): void {
    for (let next = this.#heap[0]; next && next.at <= until; next = this.#heap[0]) {
      this.#removeFirst()
      this.now = next.at
      next.act()
    }
  }

  #isBefore(left: number, right: number): boolean {
    const [a, b] = [this.#heap[left], this.#heap[right]]
    if (!a || !b) return false
    return a.at < b.at || (a.at === b.at && a.order < b.order)
  }

  #swap(left: number, right: number): void {
    const [a, b] = [this.#heap[left], this.#heap[right]]
    if (!a || !b) return
    this.#heap[left] = b
    this.#heap[right] = a
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #removeFirst(): void {
    this.#swap(0, this.#heap.length - 1)
    this.#heap.pop()
    for (let at = 0; ;) {
      let least = at
      for (const child of [2 * at + 1, 2 * at + 2]) if (this.#isBefore(child, least)) least = child
      if (least === at) return
      this.#swap(at, least)
      at = least
    }
  }
}
