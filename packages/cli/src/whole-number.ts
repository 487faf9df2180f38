import { InvalidArgumentError } from 'commander'

/** Reads an option that is a number without a fraction, within limits. */
export function wholeNumber(least: number, most: number, what: string): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/u.test(text) ? Number(text) : -1
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`Give ${what} from ${least} to ${most}.`)
  }
}
