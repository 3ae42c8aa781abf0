import { signatureHeaders } from '../../../lib/outbound/aws-signature.js'
import type { SignRequest } from './source-connection.js'
import type { AwsKeys } from './source-settings.js'

const NS_PER_MS = 1_000_000n

/**
 * Signs requests with version 4 of Amazon's signatures, at the time at which they are made, for a service by the name that its
 * signatures know it by.
 */
export function signForAws(
  { accessKeyId, secretAccessKey, sessionToken }: AwsKeys,
  { region, service }: { readonly region: string; readonly service: string },
  now: () => number,
): SignRequest {
  return ({ method, url, headers, body }) => {
    const signed = signatureHeaders(
      {
        ...{ method, body, headers: new Map(Object.entries(headers)) },
        url: { host: url.host, escapedPath: url.pathname, query: url.search.slice(1) },
      },
      {
        ...{ region, service, accessKey: accessKeyId, secretKey: secretAccessKey.reveal() },
        sessionToken: sessionToken?.reveal() ?? '',
      },
      { timeNs: BigInt(Math.floor(now())) * NS_PER_MS, signsPayload: true },
    )
    // The client writes the host itself.
    signed.delete('host')
    return Object.fromEntries([...signed].map(([name, value]) => [name.toLowerCase(), value]))
  }
}
