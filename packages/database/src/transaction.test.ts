import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase, type Transaction } from './database.ts'
import { afterEnd, deferToCommit } from './transaction.ts'

const database = await testDatabase()
const open = (maximumConnections: number) =>
  openDatabase({ target: database.url, maximumConnections, applicationName: 'test' })
const db = open(4)
const killer = open(1)
after(async () => {
  await Promise.all([db.end(), killer.end()])
  await database[Symbol.asyncDispose]()
})
await db`create table noted (value text)`

const kill = (pid: number) => killer`select pg_terminate_backend(${pid})`
const noted = async () =>
  (await db<{ value: string }[]>`select value from noted order by value`).map((row) => row.value)

test('a transaction commits what it wrote, and a failed one nothing', async () => {
  assert.equal(await db.begin(async (tx) => (await tx`insert into noted values ('kept')`).count), 1)
  await assert.rejects(
    db.begin(async (tx) => {
      await tx`insert into noted values ('undone')`
      throw new Error('changed my mind')
    }),
    /changed my mind/u,
  )
  assert.deepEqual(await noted(), ['kept'])
})

test('a statement whose failure nobody looked at still fails the transaction', async () => {
  const work = db.begin(async (tx) => {
    await tx`insert into noted values ('undone')`
    await tx`select 1 / 0`.catch(() => undefined)
  })
  await assert.rejects(work, { code: '22012' })
  assert.deepEqual(await noted(), ['kept'])
})

test('what a transaction returned does not live on with its connection', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const results: WeakRef<object>[] = []
  for (let i = 0; i < 5; i++) {
    results.push(new WeakRef(await db.begin(async (tx) => ({ rows: await tx`select 1` }))))
  }
  // A weak reference keeps what it was made for until the turn is over.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  // The driver may hold on to the latest one until its next statement.
  assert.deepEqual(
    results.slice(0, 4).map((result) => result.deref()),
    [undefined, undefined, undefined, undefined],
  )
})

test('a query of a transaction lets go of what it sent once it is answered', async () => {
  const query = await db.begin(async (tx) => {
    const sent = tx`select ${'half a megabyte'}::text`
    await sent
    return { sent }
  })
  const { args, parameters } = query.sent as { args?: unknown; parameters?: unknown }
  assert.deepEqual({ args, parameters }, { args: undefined, parameters: undefined })
})

test('[EVT-01] nothing of a transaction whose connection died is executed elsewhere', async () => {
  const busy = Array.from({ length: 6 }, () => db`select pg_sleep(0.2)`)
  const work = db.begin(async (tx) => {
    const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
    await tx`insert into noted values ('before')`
    await kill(row?.pid ?? 0)
    await tx`insert into noted values ('after')`.catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await tx`insert into noted values ('later')`
  })
  await assert.rejects(work)
  await Promise.all(busy)
  assert.deepEqual(await noted(), ['kept'])
})

test('connections that die under load are replaced, every one', async () => {
  const all = Array.from({ length: 12 }, async () =>
    db.begin(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      await Promise.all([tx`select pg_sleep(0.05)`, kill(row?.pid ?? 0)])
    }),
  )
  for (const { status } of await Promise.allSettled(all)) assert.equal(status, 'rejected')
  await Promise.all(Array.from({ length: 8 }, (_, number) => db.begin((tx) => tx`select ${number}::int`)))
  await Promise.all(Array.from({ length: 8 }, (_, number) => db`select ${number}::int`))
  assert.deepEqual(await noted(), ['kept'])
})

test('a statement that is left to the commit is committed, or fails the transaction with its own error', async () => {
  await db.begin(async (tx) => deferToCommit(tx, tx`insert into noted values ('left')`))
  assert.deepEqual(await noted(), ['kept', 'left'])
  const failing = db.begin(async (tx) => {
    deferToCommit(tx, tx`insert into noted values ('undone')`, tx`select 1 / 0`)
  })
  await assert.rejects(failing, { code: '22012' })
  assert.deepEqual(await noted(), ['kept', 'left'])
})

test('where a statement fails because of one that was left to the commit, the cause is reported', async () => {
  const failing = db.begin(async (tx) => {
    deferToCommit(tx, tx`select 1 / 0`)
    await tx`insert into noted values ('undone')`
  })
  await assert.rejects(failing, { code: '22012' })
  assert.deepEqual(await noted(), ['kept', 'left'])
})

test('of statements that were sent together the one that failed is reported, whichever is looked at first', async () => {
  const late = async (statement: Promise<unknown>) => {
    await statement.catch(async (error: unknown) => {
      for (let turns = 0; turns < 5; turns++) await Promise.resolve()
      throw error
    })
  }
  const failing = db.begin(async (tx) => {
    await Promise.all([late(tx`select 1 / 0`), tx`insert into noted values ('undone')`])
  })
  await assert.rejects(failing, { code: '22012' })
})

test('an un-awaited statement is sent, in the order of the calls, and its failure fails the transaction', async () => {
  await db.begin(async (tx) => void tx`insert into noted values ('unawaited')`)
  assert.deepEqual(await noted(), ['kept', 'left', 'unawaited'])
  await db`delete from noted where value = 'unawaited'`
  const order = await db.begin(async (tx) => {
    void tx`create temporary table ordered (place serial, value text) on commit drop`
    void tx`insert into ordered (value) values ('first')`
    await tx`insert into ordered (value) values ('second')`
    return tx<{ value: string }[]>`select value from ordered order by place`
  })
  assert.deepEqual([...order], [{ value: 'first' }, { value: 'second' }])
  const failing = db.begin(async (tx) => {
    void tx`insert into noted values ('undone')`
    void tx`select 1 / 0`
  })
  await assert.rejects(failing, { code: '22012' })
  assert.deepEqual(await noted(), ['kept', 'left'])
})

test('a statement that cannot be written fails its transaction, also where nobody awaits it', async () => {
  const nothing = undefined as unknown as string
  const failing = db.begin(async (tx) => {
    await tx`insert into noted values ('undone')`
    void tx`insert into noted values (${nothing})`
  })
  await assert.rejects(failing, TypeError)
  assert.deepEqual(await noted(), ['kept', 'left'])
})

test('a deferred statement that fails in an earlier pipeline than the commit is never followed by a commit', async () => {
  const failing = db.begin(async (tx) => {
    await tx`insert into noted values ('undone')`
    deferToCommit(tx, tx`select 1 / 0`)
    // A pipeline of its own, behind the failed one.
    await tx.unsafe('select 1').catch(() => undefined)
  })
  await assert.rejects(failing, { code: '22012' })
  assert.deepEqual(await noted(), ['kept', 'left'])
})

test('where a statement that nobody awaited fails in an earlier pipeline, the commit fails with its error', async () => {
  const failing = db.begin(async (tx) => {
    await tx`select 1`
    tx`select 1 / length(pg_sleep(0.05)::text)`.catch(() => undefined)
    // It is on its way: the commit follows in a pipeline of its own.
    await new Promise((resolve) => setTimeout(resolve, 10))
  })
  await assert.rejects(failing, { code: '22012' })
})

test('a transaction reports how it ended, once: committed, rolled back, or in doubt', async () => {
  const outcomes: string[] = []
  const note = (tx: Transaction) => afterEnd(tx, (outcome) => void outcomes.push(outcome))
  await db.begin(async (tx) => note(tx))
  await assert.rejects(
    db.begin(async (tx) => {
      note(tx)
      await tx`select 1 / 0`
    }),
  )
  await assert.rejects(
    db.begin(async (tx) => {
      note(tx)
      const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      // Sent with the commit, which is never answered.
      deferToCommit(tx, tx`select pg_terminate_backend(${own?.pid ?? 0})`)
    }),
  )
  assert.deepEqual(outcomes, ['committed', 'rolled_back', 'in_doubt'])
})

test('outside a transaction nothing can be left to a commit', () => {
  assert.throws(() => deferToCommit(db as unknown as Transaction, Promise.resolve()), /only a transaction/u)
})
