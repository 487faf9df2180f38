/** Strings as a hostile company would choose them. Each of them must show up on the page as the text that it is. */
export const HOSTILE = [
  '<script>document.title = "owned"</script>',
  '"><img src=x onerror=document.title="owned">',
  "' onmouseover='document.title=1",
  '</td></tr></table></main><h1>Signed out</h1>',
  '\u202Egnp.exe\u202C and \u200Binvisible',
  '{{constructor.constructor("document.title=1")()}}',
  'W'.repeat(160),
  'javascript:document.title="owned"',
] as const

export const NOW = new Date('2026-11-16T14:30:00.000Z')
export const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000)

export const PACKAGES = [
  ['pkg_7f3k9d2m5q8r1t4w7f3k9d2m5q8r1t4w', 'org_acme', 'Acme Drives', 'opened', 'good', 4, 12_440],
  [
    'pkg_2h6j8l0n3p5s7v9x2h6j8l0n3p5s7v9x',
    'org_northwind_logistics',
    'Northwind Logistics',
    'encrypted available',
    'info',
    95,
    3_012,
  ],
  ['pkg_5b7c9e1g3i6k8m0p', 'org_acme', 'Acme Drives', 'revoked', 'neutral', 4_210, 88_100],
  [
    'pkg_4d6f8h0j2l4n6p8r',
    'org_mueller_bremssysteme',
    'Müller Bremssysteme',
    'delivery failed',
    'bad',
    86_400 * 3,
    640,
  ],
  [
    'pkg_9s1u3w5y7a9c1e3g',
    'org_mueller_bremssysteme',
    'Müller Bremssysteme',
    'retrying',
    'warn',
    7_900,
    19_731,
  ],
] as const

const wave = (index: number, base: number, height: number, step: number) =>
  Math.round(base + height * Math.sin(index / step) + (height / 4) * Math.sin(index * 2.3))

const MINUTES = 60
export const TIMES = Array.from({ length: MINUTES }, (_value, index) => {
  const at = ago((MINUTES - 1 - index) * 60)
  return at.toISOString().slice(11, 16)
})
export const ACCEPTED = TIMES.map((_time, index) => wave(index, 420, 130, 9))
export const DELIVERED = TIMES.map((_time, index) =>
  index > 33 && index < 40 ? null : wave(index, 390, 120, 9),
)
export const P99 = TIMES.map((_time, index) => wave(index, 38, 9, 5))
export const FAILURES = TIMES.slice(-24).map((_time, index) => Math.max(0, wave(index, 2, 5, 3)))
