const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']
const STEP = 1_000

/** Such as "1.2 GB". */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}
