import {
  confirmation,
  definitionList,
  html,
  notice,
  table,
  type Html,
  type FormState,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import { readTransparencyLog, recoverTransparencyLog } from '../../operator/routes/transparency-log.ts'
import { get, post, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { outsideText, REASON, statusBadge } from '../console-parts.ts'
import { timeOf } from '../time.ts'

export const logPages: readonly ConsolePage[] = [
  get('/log', showLog),
  post('/log/recover', recover, 'administrator'),
]

type Status = Awaited<ReturnType<typeof readTransparencyLog.run>>
const NUMBER = new Intl.NumberFormat('en')

async function showLog({ api, show, operator, formState, now }: ConsoleCall) {
  const status = await api(readTransparencyLog)
  const main = html`<p class="lead">
      Every audit record and key event becomes a leaf of an append-only log that others can verify.
    </p>
    ${
      status.what_to_do !== undefined &&
      notice({
        tone: status.state === 'refusing' || status.state === 'damaged' ? 'bad' : 'warn',
        title: 'What to do',
        text: status.what_to_do,
      })
    }
    ${definitionList([
      ['Origin', outsideText(status.origin)],
      ['State', statusBadge(status.state)],
      ['Leaves', NUMBER.format(status.size)],
      ['Published', NUMBER.format(status.published_size)],
      [
        'Last checkpoint',
        status.last_checkpoint_at === null ? 'none' : timeOf(status.last_checkpoint_at, now),
      ],
      ['Waiting leaves', NUMBER.format(status.pending_leaves)],
      ['Oldest waits for', `${Math.round(status.oldest_pending_seconds)} s`],
      ['Earlier records', status.backfilled ? 'all in the log' : 'being added'],
      ['Sequenced by', status.sequencer ?? 'no process'],
    ])}
    ${witnesses(status, now)} ${hasRole(operator, 'administrator') && recovery(formState)}`
  return show({ title: 'Transparency log', main })
}

function witnesses({ witnesses: all }: Status, now: Date): Html {
  return html`<h2>Witnesses</h2>
    ${table({
      caption: 'Witnesses',
      hidesCaption: true,
      columns: [
        { title: 'Witness' },
        { title: 'Last answer' },
        { title: 'Cosigned size', isNumeric: true },
        { title: 'Cosigned' },
        { title: 'Tried' },
      ],
      rows: all.map((witness) => [
        outsideText(witness.name),
        outsideText(witness.outcome),
        witness.size === null ? '' : NUMBER.format(witness.size),
        witness.cosigned_at && timeOf(witness.cosigned_at, now),
        timeOf(witness.tried_at, now),
      ]),
      empty: {
        title: 'No witnesses',
        text: 'The log is signed by the exchange alone. Name witnesses of other companies with AEX_WITNESS_POLICY.',
      },
    })}`
}

function recovery(formState: FormState): Html {
  return html`<h2>Recover</h2>
    ${confirmation({
      summary: 'Refill the tail from a copy…',
      explanation:
        'After a restore that lost the end of the log: copies the lost leaves from a complete copy, verified against a checkpoint of our own key. One call copies at most 100,096 leaves.',
      form: {
        id: 'recover',
        action: '/log/recover',
        ...formState,
        fields: [
          {
            kind: 'url',
            name: 'mirror_url',
            label: 'Address of the copy',
            isRequired: true,
            maxLength: 2_000,
            hint: 'https, or file:// for a folder of the server.',
          },
          REASON,
        ],
        submit: { label: 'Recover the log' },
      },
    })}`
}

async function recover({ api, form: fields, redirect }: ConsoleCall) {
  const input = { mirror_url: fields.get('mirror_url'), reason: fields.get('reason') }
  const answer = await api(recoverTransparencyLog, { input })
  return redirect('/log', {
    tone: 'good',
    title: 'Leaves were copied.',
    text: Object.entries(answer)
      .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${String(value)}`)
      .join(', '),
  })
}
