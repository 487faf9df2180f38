/** Rules of the report beside those of all pages. */
export const REPORT_STYLE = `
.two {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr));
  gap: 0.5rem 1.25rem;
}
.two > * {
  min-width: 0;
  margin: 0;
}
.two figcaption {
  font-weight: 600;
}
.two pre {
  max-height: 24rem;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.counts {
  display: flex;
  flex-wrap: wrap;
  gap: 0.4rem 2rem;
  max-width: none;
  margin: 1.25rem 0;
  padding: 0;
  list-style: none;
}
.counts strong {
  display: block;
  font-size: 1.5rem;
  line-height: 1.2;
}
.wide {
  padding: 0.75rem;
  overflow-x: auto;
  border: 1px solid var(--line);
  border-radius: var(--radius);
  background: var(--raised);
}
.sequence {
  display: block;
  width: 100%;
  min-width: 40rem;
  max-width: 60rem;
  margin: 0 auto;
}
.sequence .life {
  stroke: var(--edge);
  stroke-dasharray: 3 4;
}
.sequence .head {
  fill: var(--sunken);
  stroke: var(--edge);
}
.sequence text {
  fill: var(--ink);
  font-size: 12px;
  text-anchor: middle;
}
.sequence .chapter {
  stroke: var(--raised);
  stroke-width: 6px;
  font-weight: 600;
  paint-order: stroke;
  text-anchor: start;
}
.sequence .name {
  font-size: 13px;
  font-weight: 600;
}
.sequence .arrow {
  stroke: currentColor;
  stroke-width: 1.5;
}
.sequence polygon {
  fill: currentColor;
}
.sequence .event .arrow {
  stroke-dasharray: 6 3;
}
.sequence .package {
  color: var(--series-1);
}
.sequence .event {
  color: var(--series-2);
}
.sequence .decision {
  color: var(--series-3);
}
.sequence .receipt,
.sequence .proof {
  color: var(--good);
}
.sequence .transfer {
  color: var(--info);
}
.checks {
  margin: 0 0 0.5rem;
  padding: 0;
  list-style: none;
}
.checks li {
  display: grid;
  grid-template-columns: auto minmax(0, 1fr);
  gap: 0 0.6rem;
  padding: 0.15rem 0;
}
.checks .mark {
  margin-top: 0.45em;
}
summary .badge {
  margin-left: 0.4rem;
}
`
