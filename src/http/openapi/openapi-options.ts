import type { Config } from '../../config/config.js'
import type { OpenApiOptions, OpenApiTls } from './openapi-document.js'

/** What the document says of a service with this configuration. */
export function openApiOptions(version: string, server: Config['server']): OpenApiOptions {
  return { version, publicUrl: server.publicUrl, tls: tlsOf(server) }
}

function tlsOf({
  tlsCertificate,
  tlsClientCa,
  tlsRequireClient,
  tlsMinVersion,
}: Config['server']): OpenApiTls | undefined {
  if (tlsCertificate === undefined) return undefined
  const certificates = tlsClientCa === undefined ? 'none' : tlsRequireClient ? 'required' : 'taken'
  return { minVersion: tlsMinVersion, certificates }
}
