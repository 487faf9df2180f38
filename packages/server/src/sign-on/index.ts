export { roleMappingOf, type RoleMapping } from './role-mapping.ts'
export { readSignOn, type SignOnConfig } from './sign-on-settings.ts'
export {
  createSingleSignOn,
  SignOnFailure,
  type SignedOn,
  type SignOnChecks,
  type SignOnFault,
  type SingleSignOn,
} from './single-sign-on.ts'
