import { get, post, type ConsolePage } from '../console-page.ts'
import { addClient, disable, newClient, rotate, showClient } from './client-pages.ts'
import { saveAcceptsFrom, saveQuotas, saveSenders, showConsent } from './consent-page.ts'
import { approve, newConnector, revokeOne, showConnector, suspendOne } from './connector-pages.ts'
import { continueOne, endOne, showEnd } from './end-pages.ts'
import { showExport } from './export-page.ts'
import { addOrganization, newOrganization, showOrganizations } from './organization-list.ts'
import { activate, saveContact, showOrganization, suspend } from './organization-page.ts'

const ONE = '/organizations/:organization_id'
const CLIENT = `${ONE}/clients/:client_id`
const CONNECTOR = `${ONE}/connectors/:connector_id`

export const organizationsPages: readonly ConsolePage[] = [
  get('/organizations', showOrganizations),
  get('/organizations/new', newOrganization, 'operator'),
  post('/organizations', addOrganization),
  get(ONE, showOrganization),
  post(`${ONE}/suspend`, suspend),
  post(`${ONE}/activate`, activate),
  post(`${ONE}/contact`, saveContact),
  get(`${ONE}/consent`, showConsent),
  post(`${ONE}/consent/from`, saveAcceptsFrom),
  post(`${ONE}/consent/senders`, saveSenders),
  post(`${ONE}/quotas`, saveQuotas),
  get(`${ONE}/export`, showExport, 'operator'),
  get(`${ONE}/end`, showEnd),
  post(`${ONE}/end`, endOne, 'administrator'),
  post(`${ONE}/end/continue`, continueOne, 'administrator'),
  get(`${ONE}/add-client`, newClient, 'operator'),
  post(`${ONE}/clients`, addClient),
  get(CLIENT, showClient),
  post(`${CLIENT}/disable`, disable),
  post(`${CLIENT}/rotate`, rotate),
  get(`${ONE}/approve-connector`, newConnector, 'operator'),
  post(`${ONE}/connectors`, approve),
  get(CONNECTOR, showConnector),
  post(`${CONNECTOR}/suspend`, suspendOne),
  post(`${CONNECTOR}/revoke`, revokeOne),
]
