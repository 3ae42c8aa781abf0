import type { Config } from '../../config/config.js'
import type { Logger } from '../../lib/logger.js'
import type { TlsFiles } from '../files/tls-files.js'

/** The certificate of the service; undefined where none is configured. Raises `invalid` for files that cannot be used. */
export async function openTls(config: Config, logger: Logger): Promise<TlsFiles | undefined> {
  if (config.server.tlsCertificate === undefined) return undefined
  const { TlsFiles: Files } = await import('../files/tls-files.js')
  return Files.open(config, logger)
}
