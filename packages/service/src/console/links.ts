/** Addresses of the console. Ids are encoded: callers choose some of them. */
export const packagePath = (id: string) => `/packages/${encodeURIComponent(id)}`
export const threadPath = (id: string) => `/threads/${encodeURIComponent(id)}`
export const deliveryPath = (id: string) => `/deliveries/${encodeURIComponent(id)}`
export const endpointPath = (id: string) => `/endpoints/${encodeURIComponent(id)}`
export const organizationPath = (id: string) => `/organizations/${encodeURIComponent(id)}`
export const agentPath = (id: string) => `/agents/${encodeURIComponent(id)}`
