import {
  confirmation,
  html,
  identifier,
  shortIdentifier,
  table,
  type Html,
  type FormState,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import { Problem } from '../../kernel/problem.ts'
import { publishSkill, readSkills } from '../../operator/routes/skills.ts'
import { get, post, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { commandLine, OPTIONAL_REASON, outsideText } from '../console-parts.ts'
import { pagingLinks } from '../paging.ts'
import { timeOf } from '../time.ts'

export const skillsPages: readonly ConsolePage[] = [get('/skills', list), post('/skills', publish)]

async function list({ api, query, show, now, operator, formState }: ConsoleCall) {
  const after = query.get('after')
  const { items, next_cursor } = await api(readSkills, { input: { after } })
  const main = html`<p class="lead">
      Releases that agents find at the exchange, signed by the platform. A published version is never
      replaced.
    </p>
    ${table({
      caption: 'Skill releases',
      hidesCaption: true,
      columns: [
        { title: 'Skill' },
        { title: 'Version' },
        { title: 'Channel' },
        { title: 'Protocol' },
        { title: 'Artifact' },
        { title: 'Published' },
      ],
      rows: items.map((release) => [
        identifier(release.skill_id),
        outsideText(release.version),
        outsideText(release.release_channel),
        outsideText(release.protocol_range),
        shortIdentifier(release.artifact_digest),
        timeOf(release.published_at, now),
      ]),
      empty: { title: 'No skill releases', text: 'Publish the first one below.' },
      paging: pagingLinks('/skills', {}, { after, next: next_cursor }),
    })}
    ${hasRole(operator, 'operator') && publication(formState)}`
  return show({ title: 'Skills', main })
}

function publication(formState: FormState): Html {
  return html`<h2>Publish a release</h2>
    <p>From a terminal, with an artifact of up to 16 MB:</p>
    ${commandLine('aex skill publish manifest.json skill.tar.gz')}
    ${confirmation({
      summary: 'Publish a small one here…',
      explanation: 'Agents find the release at once, and it is never replaced.',
      form: {
        id: 'skill',
        action: '/skills',
        ...formState,
        fields: [
          {
            kind: 'textarea',
            name: 'manifest',
            label: 'Manifest',
            isRequired: true,
            hint: 'JSON: skill_id, version, release_channel, protocol_range, schema_refs, update_policy.',
          },
          {
            kind: 'textarea',
            name: 'artifact',
            label: 'Artifact in base64',
            isRequired: true,
            hint: 'Up to about 40 KB: openssl base64 -A -in skill.tar.gz',
          },
          OPTIONAL_REASON,
        ],
        submit: { label: 'Publish release', tone: 'primary' },
      },
    })}`
}

async function publish({ api, form: fields, redirect }: ConsoleCall) {
  const input = {
    manifest: manifestOf(fields.get('manifest')),
    artifact: fields.get('artifact')?.replaceAll(/\s/gu, ''),
    reason: fields.get('reason'),
  }
  const { skill_id, version } = await api(publishSkill, { input })
  return redirect('/skills', { tone: 'good', title: `${skill_id} ${version} is published.` })
}

function manifestOf(text: string | undefined) {
  try {
    // The route validates the object.
    return JSON.parse(text ?? '') as never
  } catch {
    const failures = [{ pointer: '/manifest', rule: 'ID-10', message: 'Paste the manifest as JSON.' }]
    throw new Problem('validation_failed', { failures })
  }
}
