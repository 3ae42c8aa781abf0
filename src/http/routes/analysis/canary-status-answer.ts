import { AppError, toAppError } from '../../../errors/app-error.js'
import { unknownRun } from '../../../analysis/runs/analysis-operations.js'
import {
  showCanaryStatus,
  unknownCanaryStatus,
  unreadableCanaryStatus,
  withReportUrl,
} from '../../../analysis/runs/canary-status.js'
import type { ShownStatus } from '../../../analysis/runs/canary-status.js'
import { baseUrl } from '../../exchange/base-url.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { readPathNumber } from '../../input/path-number.js'
import type { AnalysisRoutesDeps } from './analysis-deps.js'

/** The status of a run as its readers poll it; they look at no HTTP status, so that an error has all members too. */
export async function answerCanaryStatus(
  exchange: Exchange,
  deps: AnalysisRoutesDeps,
  id: string,
): Promise<Response> {
  let shown: ShownStatus | undefined
  try {
    const runId = readPathNumber(id)
    shown = runId === undefined ? undefined : await deps.reader.run(showCanaryStatus, runId)
    deps.outage.over()
  } catch (raw) {
    const failure = toAppError(raw)
    exchange.failure = failure
    const { code, message } = failure
    // Whatever went wrong, its readers are to ask again.
    const { status, headers } = errorAnswer(new AppError('unavailable', message, { code, cause: failure }))
    const asStatus = deps.outage.isTooLong(deps.now()) ? unknownCanaryStatus : unreadableCanaryStatus
    return jsonAnswer({ code, message, ...asStatus(id, message) }, status, headers)
  }
  if (shown === undefined) {
    const { code, message } = unknownRun(id)
    return jsonAnswer({ code, message, ...unknownCanaryStatus(id, message) }, 404)
  }
  const { run, status } = shown
  const token = deps.reportLinks.issue(run, deps.now())
  const base = baseUrl(exchange, deps.publicUrl)
  // The orchestrator's interface puts its own base before this path, and the plugins /fromPlugin/… behind it.
  const pages = `${new URL(base).pathname.replace(/\/$/, '')}/ui/plugin-isd/verification`
  const page = `${pages}/${encodeURIComponent(status.application)}/${run.id}/${token}`
  return jsonAnswer(withReportUrl(status, `${base}/analysis/report/${run.id}/${token}`, page))
}
