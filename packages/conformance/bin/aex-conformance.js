#!/usr/bin/env node
// Plain JavaScript, so that an older Node can still read it and say what is wrong.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'

const NEEDED = 24

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  console.error(`aex-conformance needs Node ${NEEDED} or later; this is ${process.version}.`)
  process.exit(2)
}

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
