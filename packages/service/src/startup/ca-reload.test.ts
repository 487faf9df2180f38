import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testAuthority } from '@agent-exchange/testkit'
import { caReload } from './ca-reload.ts'

test('a changed CA file is used, and a damaged file changes nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aex-ca-'))
  try {
    const [first, second] = await Promise.all([testAuthority(), testAuthority('other')])
    const caFile = join(folder, 'ca.pem')
    writeFileSync(caFile, first.certificate)
    const logged: string[] = []
    const log = {
      info: (fields: object) => void logged.push(`info ${JSON.stringify(fields)}`),
      error: (fields: object) => void logged.push(`error ${JSON.stringify(fields)}`),
    }
    const { ca, tasks } = caReload('webhook CA', { ca: first.certificate, caFile }, log)
    const reload = () => tasks[0]?.run(new AbortController().signal)
    await reload()
    assert.equal(logged.length, 0)
    writeFileSync(caFile, second.certificate)
    await reload()
    assert.equal(ca(), second.certificate)
    writeFileSync(caFile, 'damaged')
    await reload()
    await reload()
    assert.equal(ca(), second.certificate)
    assert.deepEqual(
      logged.map((line) => line.split(' ')[0]),
      ['info', 'error'],
    )
    assert.equal(caReload('webhook CA', { ca: undefined }, log).tasks.length, 0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
