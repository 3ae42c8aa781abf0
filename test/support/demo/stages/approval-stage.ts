import { setTimeout } from 'node:timers/promises'

import type { RunStage, StageReport } from '../execution.js'
import { findGate } from './find-gate.js'
import { follow, memberOf, postTo } from './service-calls.js'

const POLL_MS = 500
const ENDS: Readonly<Record<string, StageReport['status']>> = {
  approved: 'SUCCEEDED',
  rejected: 'TERMINAL',
  canceled: 'TERMINAL',
}

/**
 * Triggers an approval gate, which may call back below a URL, and polls until it is decided
 * (orchestrator-clients.md, 2).
 */
export function approvalStage(tidegateUrl: string, callbackUrl: string, ended: AbortSignal): RunStage {
  return async (stage, execution, report) => {
    const gateUrl = await findGate(tidegateUrl, execution, stage, 'approval')
    const body = {
      approvalCallbackURL: `${callbackUrl}/callbackurl`,
      rejectionCallbackURL: `${callbackUrl}/rejectionbackurl`,
      ...{ executionId: execution.id, toolConnectorParameters: [], customConnectorData: [] },
      payloadConstraint: [{ region: 'eu' }],
    }
    const triggered = await postTo(gateUrl, body, execution.user)
    if (triggered.status !== 202) return { status: 'TERMINAL', message: triggered.text }
    const link = `${memberOf(triggered, 'navigationalURL')}/fromPlugin?instanceId=${memberOf(triggered, 'id')}`
    report({ status: 'RUNNING', message: 'waits for a person', link })
    for (;;) {
      await setTimeout(POLL_MS, undefined, { signal: ended })
      const answer = await follow(String(triggered.headers.location))
      const said = memberOf(answer, 'status')
      const status = ENDS[said]
      if (status !== undefined)
        return { status, message: `${said}: ${memberOf(answer, 'comment') || 'no comment'}`, link }
    }
  }
}
