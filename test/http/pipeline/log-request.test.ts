import { expect, test } from 'vitest'

import { logRequest } from '../../../src/http/pipeline/log-request.js'
import type { Logger } from '../../../src/lib/logger.js'
import { FakeExchange } from '../../support/fake-exchange.js'

test.each(['/analysis/report/7/the-token', '/analysis/report/7/the-token/shop'])(
  'the line for %s does not have the token of the link',
  (url) => {
    const lines: object[] = []
    const note = (fields: object): void => void lines.push(fields)
    const logger = { isLevelEnabled: () => true, info: note, error: note, debug: note } as unknown as Logger
    logRequest(logger, new FakeExchange({ method: 'GET', url }))
    expect(JSON.stringify(lines)).toContain('/analysis/report/7/[redacted]')
    expect(JSON.stringify(lines)).not.toContain('the-token')
  },
)
