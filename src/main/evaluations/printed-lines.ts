import type { Config } from '../../config/config.js'
import type { Logger } from '../../lib/logger.js'
import type { EvaluationsOptions } from '../../rego/index.js'

/** Whether what policies print is read by anybody. Elsewhere calls of `print` are left out when policies are compiled, and cost nothing. */
export function showsPrinted({ log }: Pick<Config, 'log'>): boolean {
  return log.level === 'debug'
}

/** Takes what policies print to the log, a line each; undefined where nobody reads it. */
export function logPrinted(config: Pick<Config, 'log'>, logger: Logger): EvaluationsOptions['printed'] {
  if (!showsPrinted(config)) return undefined
  return (lines) => {
    for (const line of lines) logger.debug({ printed: line }, 'a policy prints')
  }
}
