#!/usr/bin/env node
// Plain JavaScript, so that an older Node can still read it and say what is wrong.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'

const NEEDED = 24

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  console.error(
    `aex needs Node ${NEEDED} or later; this is ${process.version}. In a checkout on Linux, \`npx aex\` uses the one ` +
      'that npm ci installed; elsewhere install Node 24 first (https://nodejs.org).',
  )
  // Of `aex verify` and `aex backup verify`, 1 is a result.
  process.exit(process.argv.includes('verify') ? 2 : 1)
}

// Kept between runs where the system lets us: a command should answer at once.
nodeModule.enableCompileCache()

const source = new URL('../src/main.ts', import.meta.url)
if (existsSync(source)) {
  // In a checkout the sources run as they are: workspaces resolve to their `source` export.
  nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: ['source', ...context.conditions] }),
  })
  await import(source.href)
} else {
  await import('../dist/main.js')
}
