import type { AzureSettings, AzureSignIn } from '../answers/source-settings.js'
import type { SourceRequest } from '../answers/source-connection.js'

/** Of Azure's App Service; the older `2018-02-01` of virtual machines differs in nothing that is asked for here. */
const IDENTITY_VERSION = '2019-08-01'

/** Where tokens for Azure come from. */
export function azureTokenUrl(signIn: AzureSignIn): string {
  return signIn.type === 'client-secret' ? signIn.loginUrl : signIn.url
}

/** The request for a token: of a client with its secret, or of a managed identity. */
export function azureTokenRequest({ signIn, url }: AzureSettings): SourceRequest {
  const audience = signIn.audience ?? new URL(url).origin
  if (signIn.type === 'client-secret') {
    return {
      method: 'POST',
      path: `/${encodeURIComponent(signIn.tenantId)}/oauth2/v2.0/token`,
      form: {
        grant_type: 'client_credentials',
        client_id: signIn.clientId,
        client_secret: signIn.clientSecret.reveal(),
        scope: `${audience}/.default`,
      },
    }
  }
  const { clientId, header } = signIn
  return {
    method: 'GET',
    path: '',
    search: {
      ...{ 'api-version': IDENTITY_VERSION, resource: `${audience}/` },
      ...(clientId !== undefined && { client_id: clientId }),
    },
    // Azure Arc and virtual machines want the one, App Service the other.
    headers: { metadata: 'true', ...(header !== undefined && { 'x-identity-header': header.reveal() }) },
  }
}
