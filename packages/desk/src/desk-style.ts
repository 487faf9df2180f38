import { createHash } from 'node:crypto'
import type { WebAsset } from '@agent-exchange/web'

const STYLE = `.package {
  max-width: 52rem;
  margin: 0 0 1.25rem;
  padding: 0.9rem 1.1rem;
  border: 1px solid var(--line);
  border-left: 4px solid var(--edge);
  border-radius: var(--radius);
  background: var(--raised);
}
.package.theirs {
  border-left-color: var(--series-3);
}
.package.ours {
  border-left-color: var(--series-1);
}
.package > h2,
.package > h3 {
  margin-top: 0.4rem;
}
.origin {
  display: flex;
  flex-wrap: wrap;
  gap: 0.3rem 0.8rem;
  align-items: baseline;
  margin: 0;
}
.text {
  white-space: pre-wrap;
}
.members {
  display: grid;
  grid-template-columns: minmax(6rem, 12rem) minmax(0, 1fr);
  gap: 0.3rem 1rem;
  margin: 0.4rem 0;
}
.members dt {
  color: var(--quiet);
}
.members dd {
  margin: 0;
}
.members ul {
  margin: 0;
  padding-left: 1.1rem;
}
.members .members {
  margin: 0;
}
.package > .members > dt,
.package > details > .members > dt {
  color: var(--ink);
  font-weight: 550;
}
.package pre,
.exact {
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.choices {
  max-width: 52rem;
  margin: 0 0 1rem;
  padding: 0.6rem 1rem;
  border: 1px solid var(--line);
  border-radius: var(--radius);
}
.choices legend {
  padding: 0 0.3rem;
  font-weight: 550;
}
.choices .field {
  margin-bottom: 0.5rem;
}
.templates {
  padding: 0;
  list-style: none;
}
.templates a {
  font-weight: 550;
}
.row {
  margin: 0 0 0.75rem;
  padding: 0.2rem 0.75rem 0.4rem;
  border: 0;
  border-left: 3px solid var(--line);
}
.compose-result > .preview {
  padding: 0.2rem 0.9rem;
  border: 1px dashed var(--edge);
  border-radius: var(--radius);
}
.story {
  max-width: 72rem;
}
.story-grid {
  columns: 3 20rem;
  column-gap: 1.25rem;
  margin-bottom: 1.25rem;
}
.story-grid > :last-child {
  margin-bottom: 0;
}
.story-part {
  margin: 0 0 1.25rem;
  padding: 0.2rem 1rem 0.6rem;
  border: 1px solid var(--line);
  border-top: 4px solid var(--edge);
  border-radius: var(--radius);
  background: var(--raised);
  break-inside: avoid;
}
.story-part.act {
  border-top-color: var(--warn);
}
.story-part.decided,
.story-part.agreed {
  border-top-color: var(--good);
}
.story-part.disputed:not(.settled) {
  border-top-color: var(--bad);
}
.story-part h2 {
  margin: 0.5rem 0;
  font-size: 1.05rem;
}
.story-part > ul,
.conversation > ol,
.companies {
  margin: 0;
  padding: 0;
  list-style: none;
}
.story-part > ul > li,
.conversation li {
  margin: 0 0 0.75rem;
  overflow-wrap: anywhere;
}
.story q {
  padding-left: 0.5rem;
  border-left: 3px solid var(--series-3);
}
.story q.ours {
  border-left-color: var(--series-1);
}
.said,
.beside {
  margin: 0.1rem 0 0;
  color: var(--quiet);
  font-size: 0.9rem;
}
.beside > span {
  display: block;
}
.company {
  color: var(--ink);
  font-weight: 550;
}
.companies,
.phases {
  display: flex;
  flex-wrap: wrap;
  gap: 0.4rem 1.2rem;
  margin-bottom: 0.75rem;
}
.letter {
  display: inline-block;
  width: 1.6rem;
  border-radius: 50%;
  background: var(--series-3);
  color: var(--raised);
  font-weight: 700;
  line-height: 1.6rem;
  text-align: center;
}
.ours > .letter {
  background: var(--series-1);
}
.phases {
  gap: 0.2rem 0.5rem;
  padding: 0;
  list-style: none;
}
.phases li {
  padding: 0 0.5rem;
  border: 1px solid var(--line);
  border-radius: var(--radius);
  color: var(--quiet);
}
.phases li.next {
  border-style: dashed;
  border-color: var(--edge);
}
.phases li.shown {
  border-color: var(--edge);
  color: var(--ink);
}
.story-part.settled {
  border-top-color: var(--edge);
}
.settled > q {
  color: var(--quiet);
}
.legend {
  font-size: 0.9rem;
}
.verdict {
  max-width: 52rem;
}
.handling > h3 {
  margin: 0.6rem 0 0.2rem;
  font-size: 1rem;
}
.handling > ul {
  margin: 0 0 0.6rem;
  padding-left: 1.1rem;
}
.compose-result {
  max-width: 100%;
  overflow-wrap: anywhere;
}
.compose-result .story-grid {
  columns: auto 16rem;
}
.phases li[aria-current] {
  border-color: var(--series-1);
  color: var(--ink);
  font-weight: 700;
}
.standing {
  margin-bottom: 1rem;
}
meter {
  width: 8rem;
}
@media print {
  .story-part {
    border-width: 1px;
  }
  .story .button,
  .story button,
  .conversation:not([open]) {
    display: none;
  }
}
@media (max-width: 40rem) {
  .package {
    padding: 0.7rem 0.75rem;
  }
  .members,
  .facts {
    grid-template-columns: minmax(0, 1fr);
    gap: 0 1rem;
  }
  .members dd,
  .facts dd {
    margin-bottom: 0.4rem;
  }
  .members .members {
    padding-left: 0.7rem;
    border-left: 1px solid var(--line);
  }
}
`

/** The style of the desk beside that of every page. In the code, so that a packed CLI has it. */
export function deskStyle(): WebAsset {
  const hash = createHash('sha256').update(STYLE).digest('hex').slice(0, 16)
  return {
    name: `desk-${hash}.css`,
    mediaType: 'text/css; charset=utf-8',
    cacheControl: 'public, max-age=31536000, immutable',
    body: STYLE,
  }
}
