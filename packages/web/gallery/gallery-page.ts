import {
  badge,
  barPlot,
  button,
  buttonLink,
  confirmation,
  definitionList,
  emptyState,
  exactTime,
  filterForm,
  form,
  html,
  identifier,
  named,
  shortIdentifier,
  linePlot,
  liveRegion,
  notice,
  page,
  relativeTime,
  table,
  timeline,
  type Html,
  type Notice,
  type Site,
} from '@agent-exchange/web'
import * as samples from './samples.ts'

const { HOSTILE, NOW, ago } = samples

export interface GalleryState {
  readonly site: Site
  readonly csrfToken: string
  readonly flash: readonly Notice[]
  readonly nameError?: string
  /** Counted up by the server; the live region shows it. */
  readonly ticks: number
}

/** Every component, with usual and with hostile data. */
export function galleryPage(state: GalleryState): Html {
  const main = html`<p class="lead">
      Every component of <code>packages/web</code>, with usual and with hostile data. Nothing here is real.
    </p>
    ${states()} ${live(state)} ${packages()} ${facts()} ${plots()} ${story()} ${forms(state)} ${hostile()}`
  return page(state.site, { title: 'Component gallery', main, flash: state.flash })
}

function states(): Html {
  return html`<h2>States and messages</h2>
    <p>
      ${badge('good', 'delivered')} ${badge('warn', 'retrying')} ${badge('bad', 'failed')}
      ${badge('info', 'accepted')} ${badge('neutral', 'expired')}
    </p>
    ${notice({ tone: 'info', title: 'Maintenance on Sunday', text: 'The exchange restarts at 02:00 UTC.' })}
    ${notice({ tone: 'warn', title: 'A certificate expires in 6 days', text: html`<a href="#facts">See which</a>.` })}`
}

function live({ ticks }: GalleryState): Html {
  const content = html`<p>The server has counted to <strong id="ticks">${ticks}</strong>.</p>`
  return html`<h2>Live region</h2>
    ${liveRegion({ id: 'counter', stream: './events', content })}`
}

function packages(): Html {
  const rows = samples.PACKAGES.map(([id, organization, name, state, tone, seconds, bytes]) => [
    named({ name, id: organization, href: `#${organization}`, below: shortIdentifier(organization) }),
    shortIdentifier(id, `#${id}`),
    badge(tone, state),
    relativeTime(ago(seconds), NOW),
    bytes.toLocaleString('en'),
  ])
  return html`<h2>Tables</h2>
    ${filterForm({
      id: 'filter',
      action: './',
      submitLabel: 'Search',
      fields: [
        { kind: 'search', name: 'q', label: 'Any id', isRequired: true, value: '' },
        {
          kind: 'select',
          name: 'state',
          label: 'State',
          isRequired: true,
          value: 'all',
          options: ['all', 'delivered', 'failed'].map((value) => ({ value, label: value })),
        },
      ],
    })}
    ${table({
      caption: 'Packages',
      columns: [
        { title: 'Recipient' },
        { title: 'Package', sort: { href: '?sort=id' } },
        { title: 'State' },
        { title: 'Accepted', sort: { href: '?sort=-at', direction: 'descending' } },
        { title: 'Bytes', isNumeric: true },
      ],
      rows,
      paging: { first: '?', next: '?after=pkg_9s1u3w5y7a9c1e3g' },
    })}
    ${table({
      caption: 'Dead letters',
      columns: [{ title: 'Delivery' }],
      rows: [],
      empty: {
        title: 'No dead letters',
        text: 'Deliveries that failed for good would be listed here, each with its last answer and a way to replay it.',
        action: buttonLink('#deliveries', 'See all deliveries'),
      },
    })}
    ${emptyState({ title: 'No agents yet', text: 'Invite the developer of the first agent.' })}`
}

function facts(): Html {
  return html`<section id="facts">
    <h2>Facts about one thing</h2>
    ${definitionList([
      ['Endpoint', identifier('whe_4k2j6h8g0f3d5s7a')],
      ['Address', html`<code>https://agents.mueller.example/hooks/aex?tenant=44</code>`],
      ['Status', badge('bad', 'disabled')],
      ['Why', 'The receiver answered 410 Gone.'],
      ['Since', exactTime(ago(86_400 * 2))],
    ])}
  </section>`
}

function plots(): Html {
  return html`<h2>Plots</h2>
    <div class="plots">
      ${linePlot({
        title: 'Packages',
        unit: 'per minute',
        labels: samples.TIMES,
        series: [
          { name: 'accepted', values: samples.ACCEPTED },
          { name: 'delivered', values: samples.DELIVERED },
        ],
      })}
      ${linePlot({
        title: 'Time to accept',
        unit: '99th percentile',
        labels: samples.TIMES,
        format: (value) => `${value} ms`,
        series: [{ name: 'p99', values: samples.P99 }],
      })}
      ${barPlot({
        title: 'Failed deliveries',
        unit: 'per minute',
        labels: samples.TIMES.slice(-24),
        series: { name: 'failed', values: samples.FAILURES },
      })}
    </div>`
}

const step = (seconds: number) => exactTime(ago(seconds))

function story(): Html {
  return html`<h2>Timeline</h2>
    ${timeline({
      lanes: ['Acme Drives', 'the exchange', 'Müller Bremssysteme'],
      groups: [
        {
          label: 'Thread thr_2c4v6b8n0m',
          heading: html`<h3>Acme Drives to Müller ${badge('good', 'opened')}</h3>`,
          steps: [
            { at: step(900), title: 'Policy receipt recorded', tone: 'neutral', from: 0, to: 1 },
            {
              at: step(880),
              title: 'Package accepted',
              tone: 'info',
              from: 0,
              to: 1,
              facts: definitionList([
                ['Package', identifier('pkg_7f3k9d2m5q8r1t4w')],
                ['Digest', html`<code>sha-256:kK2ZcGmBLH9q3rsv0N1pVfYxWc0hRZcQ8tXo5T1aJkA</code>`],
              ]),
              notes: [
                {
                  tone: 'good',
                  text: html`Event package.accepted: delivered to Müller by webhook`,
                  facts: definitionList([['Event', identifier('evt_4k2j6h8g0f3d5s7a')]]),
                  notes: [
                    { tone: 'bad', text: html`Attempt 1: status 503 · ${step(879)}` },
                    { tone: 'good', text: html`Attempt 2: status 204 · ${step(840)}` },
                  ],
                },
                { tone: 'neutral', text: 'Event package.accepted: in the stream of Acme, no webhook' },
              ],
            },
            { at: step(610), title: 'Content fetched', tone: 'info', from: 2, to: 1 },
            { at: step(300), title: 'Receipt: opened', tone: 'good', from: 2, to: 0 },
            { at: step(20), title: 'Key rotation recorded', tone: 'warn', from: 2 },
          ],
        },
      ],
    })}`
}

function forms({ csrfToken, nameError }: GalleryState): Html {
  return html`<h2>Forms</h2>
    ${form({
      id: 'organization',
      action: './organizations',
      csrfToken,
      fields: [
        {
          kind: 'text',
          name: 'name',
          label: 'Name',
          isRequired: true,
          maxLength: 200,
          hint: 'As it is shown to other organizations.',
          ...(nameError === undefined ? {} : { error: nameError }),
        },
        { kind: 'email', name: 'contact', label: 'Contact' },
        { kind: 'textarea', name: 'reason', label: 'Reason', isRequired: true, maxLength: 500 },
        { kind: 'checkbox', name: 'notify', label: 'Tell the organization by mail', isChecked: true },
      ],
      submit: { label: 'Create organization' },
      cancel: { href: './', label: 'Cancel' },
    })}
    <h3>Confirmation</h3>
    ${confirmation({
      summary: 'Suspend organization…',
      explanation: 'Its tokens stop working with the next request. Nothing is deleted.',
      form: {
        id: 'suspend',
        action: './suspend',
        csrfToken,
        fields: [{ kind: 'text', name: 'reason', label: 'Reason', isRequired: true, maxLength: 200 }],
        submit: { label: 'Suspend now' },
      },
    })}
    <h3>Buttons</h3>
    <form class="actions" method="get" action="./">
      ${button({ label: 'Plain' })} ${button({ label: 'Primary', tone: 'primary' })}
      ${button({ label: 'Danger', tone: 'danger' })} ${buttonLink('./', 'A link')}
    </form>`
}

/** The same strings in every component that shows what others wrote. */
function hostile(): Html {
  return html`<h2>Hostile strings</h2>
    ${table({
      caption: 'As text, id, link and badge',
      columns: [{ title: 'Text' }, { title: 'Id' }, { title: 'Link' }, { title: 'State' }],
      rows: HOSTILE.map((text, index) => [
        text,
        html`${identifier(text)} ${shortIdentifier(text)} ${named({ name: text, id: text })}`,
        html`<a href="${text}" title="${text}">link ${index}</a>`,
        badge('warn', text.slice(0, 20)),
      ]),
    })}
    ${definitionList(HOSTILE.map((text) => [text.slice(0, 30), text]))}
    ${notice({ tone: 'bad', title: HOSTILE[0], text: HOSTILE[1] })}
    ${timeline({
      lanes: [HOSTILE[3], HOSTILE[4]],
      groups: [
        {
          label: HOSTILE[2],
          steps: HOSTILE.map((title, index) => ({
            at: exactTime(NOW),
            title,
            tone: 'neutral',
            from: index % 2,
            to: 1,
            notes: [{ tone: 'neutral', text: title }],
          })),
        },
      ],
    })}
    ${linePlot({
      title: HOSTILE[1],
      unit: HOSTILE[2],
      labels: HOSTILE.map((text) => text.slice(0, 12)),
      series: [{ name: HOSTILE[3], values: HOSTILE.map((_text, index) => index) }],
    })}
    ${form({
      id: 'hostile',
      action: HOSTILE[7],
      csrfToken: HOSTILE[1],
      fields: [
        {
          kind: 'textarea',
          name: 'text',
          label: HOSTILE[0],
          hint: HOSTILE[1],
          error: HOSTILE[3],
          value: HOSTILE[3],
        },
        { kind: 'text', name: 'value', label: HOSTILE[6].slice(0, 60), value: HOSTILE[1] },
      ],
      submit: { label: HOSTILE[2] },
    })}`
}
