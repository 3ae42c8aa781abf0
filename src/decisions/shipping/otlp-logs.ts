import type { EventLabels } from './decision-event.js'
import type { ShapedDecision } from './shape-event.js'

/** Severity numbers and texts of OpenTelemetry's data model of logs. */
const INFO = { severityNumber: 9, severityText: 'INFO' }
const WARN = { severityNumber: 13, severityText: 'WARN' }
const ERROR = { severityNumber: 17, severityText: 'ERROR' }
const SEVERITIES: Readonly<Record<string, typeof INFO>> = { deny: WARN, error: ERROR }
const NS_PER_MS = 1_000_000n

/**
 * Returns decisions as an ExportLogsServiceRequest of OTLP in its JSON encoding. The body of each
 * record is the decision in OPA's format, as JSON text, and its trace is that of the request.
 */
export function otlpLogs(decisions: readonly ShapedDecision[], labels: EventLabels): string {
  const { id = '', version = '', ...others } = labels
  const resource = {
    'service.name': 'tidegate',
    'service.instance.id': id,
    'service.version': version,
    ...others,
  }
  const logRecords = decisions.map(({ event, decision }) => ({
    timeUnixNano: String(BigInt(Math.trunc(decision.timeMs)) * NS_PER_MS),
    ...(SEVERITIES[decision.outcome] ?? INFO),
    eventName: 'tidegate.decision',
    body: { stringValue: event },
    attributes: attributes({
      'tidegate.decision_id': decision.decisionId,
      'tidegate.path': decision.path,
      'tidegate.outcome': decision.outcome,
      'tidegate.revision': decision.revision,
      ...(decision.application !== null && { 'tidegate.application': decision.application }),
      ...(decision.executionId !== null && { 'tidegate.execution_id': decision.executionId }),
      ...(decision.requestId !== null && { 'tidegate.request_id': decision.requestId }),
    }),
    ...(decision.traceId !== null && { traceId: decision.traceId }),
  }))
  return JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: attributes(resource) },
        scopeLogs: [{ scope: { name: 'tidegate', version }, logRecords }],
      },
    ],
  })
}

function attributes(values: Readonly<Record<string, string>>): object[] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))
}
