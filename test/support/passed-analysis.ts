/** An analysis of a past half hour, whose only interval is due immediately. */
const MINUTE_MS = 60_000
const START_MS = Math.floor(Date.now() / MINUTE_MS - 40) * MINUTE_MS

/** How it is done, with the data of one source of Prometheus; JSON. */
export function passedDefinition(source: string): string {
  const query = { customInlineTemplate: 'PromQL:load{version="${version}"}' }
  const canaryConfig = { metrics: [{ name: 'load', query }] }
  return JSON.stringify({ lifetimeMinutes: 30, metrics: { source, canaryConfig } })
}

/** Its registration for an application, as a body. */
export function passedRegistration(application: string): object {
  const side = (version: string): object => ({ metric: { [application]: { version } } })
  const deployment = { canaryStartTimeMs: START_MS, baseline: side('stable'), canary: side('canary') }
  return { application, canaryDeployments: [deployment] }
}

/** The responses of a Prometheus for the half hour. */
export function thirtyPoints(): object {
  const values = Array.from({ length: 30 }, (_, step) => [
    START_MS / 1000 + step * 60,
    String(10 + (step % 3)),
  ])
  return { status: 'success', data: { resultType: 'matrix', result: [{ metric: {}, values }] } }
}
