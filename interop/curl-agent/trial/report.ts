/** Prints the result of each step and collects failures. */
export interface Report {
  heading(text: string): void
  /** Runs a step. A step that throws is reported and ends its scenario. */
  step<T>(what: string, work: () => Promise<T>): Promise<T>
}

export const report: Report = {
  heading: (text) => console.log(`\n${text}`),
  async step(what, work) {
    try {
      const result = await work()
      console.log(`  ✔ ${what}`)
      return result
    } catch (error) {
      console.log(`  ✖ ${what}`)
      throw error
    }
  },
}
