/** Loaded at its first use: commands and instances without people at the desk need none of its 200 modules. */
export const webauthn = () => import('@simplewebauthn/server')
