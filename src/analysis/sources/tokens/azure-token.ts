import type { AzureSettings, AzureSignIn } from '../answers/source-settings.js'
import type { SourceRequest } from '../answers/source-connection.js'

/** Of App Service and Container Apps, which want a header of their own; and of virtual machines. */
const IDENTITY_VERSIONS = { app: '2019-08-01', machine: '2018-02-01' } as const
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Where tokens for Azure come from. */
export function azureTokenUrl(signIn: AzureSignIn): string {
  return signIn.type === 'managed-identity' ? signIn.url : signIn.loginUrl
}

/** The request for a token: of a client with its secret or with the token of a service account, or of a managed identity. */
export function azureTokenRequest({ signIn, url }: AzureSettings): SourceRequest {
  const audience = signIn.audience ?? new URL(url).origin
  if (signIn.type !== 'managed-identity') {
    return {
      method: 'POST',
      path: `/${encodeURIComponent(signIn.tenantId)}/oauth2/v2.0/token`,
      form: {
        grant_type: 'client_credentials',
        client_id: signIn.clientId,
        ...(signIn.type === 'client-secret'
          ? { client_secret: signIn.clientSecret.reveal() }
          : { client_assertion_type: ASSERTION_TYPE, client_assertion: signIn.token.reveal().trim() }),
        scope: `${audience}/.default`,
      },
    }
  }
  const { clientId, header } = signIn
  return {
    method: 'GET',
    path: '',
    search: {
      'api-version': IDENTITY_VERSIONS[header === undefined ? 'machine' : 'app'],
      resource: `${audience}/`,
      ...(clientId !== undefined && { client_id: clientId }),
    },
    // Azure Arc and virtual machines want the one, App Service the other.
    headers: { metadata: 'true', ...(header !== undefined && { 'x-identity-header': header.reveal() }) },
  }
}
