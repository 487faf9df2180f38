// Plain JavaScript, so that an older Node can run it and print the error.
const NEEDED = 24

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  console.error(
    `Node ${NEEDED} or later is required; this is ${process.version}. On Linux (x64, arm64) npm ci installs it; ` +
      'on other platforms install it first (https://nodejs.org).',
  )
  process.exit(1)
}
