// Plain JavaScript, so that an older Node can still read it and say what is wrong.
const NEEDED = 24

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  console.error(
    `Node ${NEEDED} or later is needed; this is ${process.version}. On Linux (x64, arm64) npm ci brings it; ` +
      'elsewhere install it first (https://nodejs.org).',
  )
  process.exit(1)
}
