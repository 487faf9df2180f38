export { attributes, html, trusted, type Attributes, type Html, type Part } from './template/html.ts'
export { page, type NavigationItem, type PageContent, type Site } from './page/page.ts'
export { standalonePage, type StandalonePage } from './page/standalone-page.ts'
export { readWebAssets, type WebAsset, type WebAssets } from './page/web-assets.ts'

export { badge } from './components/badge.ts'
export { button, buttonLink, type Button, type ButtonTone } from './components/button.ts'
export { definitionList } from './components/definition-list.ts'
export { emptyState, type EmptyState } from './components/empty-state.ts'
export { field, type Field } from './components/field.ts'
export {
  confirmation,
  filterForm,
  form,
  type Confirmation,
  type FilterForm,
  type Form,
  type FormState,
} from './components/form.ts'
export { identifier, shortId, shortIdentifier, visible } from './components/identifier.ts'
export { liveRegion, type LiveRegion } from './components/live-region.ts'
export { named, type Named } from './components/named.ts'
export { notice, type Notice } from './components/notice.ts'
export { type RefusedForm } from './components/refused-form.ts'
export { pagingNavigation, type Paging } from './components/paging.ts'
export { exactTime, relativeText, relativeTime } from './components/relative-time.ts'
export { table, MAXIMUM_TABLE_ROWS, type Column, type Table } from './components/table.ts'
export {
  timeline,
  type Timeline,
  type TimelineGroup,
  type TimelineNote,
  type TimelineStep,
} from './components/timeline.ts'
export { type Tone } from './components/tone.ts'
export { barPlot, type BarPlot } from './plots/bar-plot.ts'
export { linePlot, type LinePlot } from './plots/line-plot.ts'
export { type Plot, type Series } from './plots/plot.ts'

export { equalsInConstantTime } from './security/constant-time.ts'
export { cookieHeader, cookieName, readCookie, type CookieSettings } from './security/cookie.ts'
export { CSRF_FIELD, csrfToken, isCsrfToken } from './security/csrf.ts'
export {
  createEventStream,
  DEFAULT_EVENT_STREAM_LIMITS,
  EVENT_STREAM_HEADERS,
  type EventStream,
  type EventStreamLimits,
  type ServerEvent,
} from './security/event-stream.ts'
export {
  createLiveStreams,
  fingerprint,
  type LiveContent,
  type LiveStreams,
  type LiveStreamsOptions,
} from './security/live-streams.ts'
export {
  loopbackOrigins,
  originFault,
  type AllowedOrigins,
  type OriginFault,
} from './security/request-origin.ts'
export {
  contentSecurityPolicy,
  securityHeaders,
  type PolicyChanges,
  type SecurityHeaderSettings,
} from './security/security-headers.ts'
export { openCookie, sealCookie } from './security/sealed-cookie.ts'
export { localPath, requestOrigin, siteOrigins, usesTls, type SiteAddress } from './security/site-address.ts'
