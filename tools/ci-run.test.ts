import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const PROGRAMS = ['bash', 'dirname', 'grep', 'mktemp', 'rm', 'tee']

/** Runs .ci/run as root on a Debian without tools, with stubs for what it starts. @returns its exit code and last line */
function runCi({ aptGet, npm }: { readonly aptGet: string; readonly npm: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'aex-ci-'))
  try {
    for (const name of ['.ci', 'node_modules', 'bin']) mkdirSync(join(folder, name))
    copyFileSync(join(import.meta.dirname, '../.ci/run'), join(folder, '.ci/run'))
    for (const name of PROGRAMS)
      symlinkSync(
        execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
        join(folder, 'bin', name),
      )
    for (const [name, script] of Object.entries({ id: 'echo 0', 'apt-get': aptGet, npm })) {
      writeFileSync(join(folder, 'bin', name), `#!${join(folder, 'bin/bash')}\n${script}\n`)
      chmodSync(join(folder, 'bin', name), 0o755)
    }
    const { status, stdout } = spawnSync(join(folder, 'bin/bash'), [join(folder, '.ci/run')], {
      encoding: 'utf8',
      env: { PATH: join(folder, 'bin'), TMPDIR: tmpdir() },
    })
    return { status, last: stdout.trimEnd().split('\n').at(-1) ?? '' }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const SKIPS = 'if [[ $* == "run test:browser" ]]; then echo "skipped: no chromium"; fi'

test('tools that cannot be installed, and trials that skip without them, are named in the last line', () => {
  const { status, last } = runCi({ aptGet: 'exit 1', npm: SKIPS })
  assert.equal(status, 0, last)
  assert.match(last, /^=== \d+ passed, 0 failed, 2 skipped, .*skipped.*: apt-get install .*default-jre/u)
  assert.match(last, /; skipped, in part or whole: npm run test:browser$/u)
})

test('where the tools could be installed, a trial that skips fails, unless a registry does not answer', () => {
  const { status, last } = runCi({ aptGet: 'exit 0', npm: SKIPS })
  assert.equal(status, 1)
  assert.match(last, /1 failed, 0 skipped, .*; failed: npm run test:browser$/u)
  const away = runCi({ aptGet: 'exit 0', npm: SKIPS.replace('no chromium', 'npm cannot be reached') })
  assert.equal(away.status, 0)
  assert.match(away.last, /0 failed, 1 skipped/u)
})
