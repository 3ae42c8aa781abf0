import type { Config } from './config.js'
import { hasOneAccess } from './sections/sign-in/aws.js'

/** A rule across several keys. */
export interface CrossCheck {
  readonly code: string
  /** The keys that the rule reads. Problems are reported for the first. */
  readonly paths: readonly (readonly [string, ...string[]])[]
  readonly check: (config: Config) => string | undefined
}

/** Rules about sources of policies. */
export const sourceChecks: readonly CrossCheck[] = [
  {
    code: 'duplicate_name',
    paths: [['policies', 'sources']],
    check: ({ policies }) =>
      repeated(
        'the name',
        policies.sources.map(({ name }) => name),
      ),
  },
  {
    code: 'contradicting_source',
    paths: [['policies', 'sources']],
    check: ({ policies }) => policies.sources.flatMap(problemsOfSource)[0],
  },
]

/** Rules about receivers of the decision log. */
export const sinkChecks: readonly CrossCheck[] = [
  {
    code: 'duplicate_name',
    paths: [['decisions', 'sinks']],
    check: ({ decisions }) =>
      repeated(
        'the name',
        decisions.sinks.map(({ name }) => name),
      ),
  },
  {
    code: 'contradicting_sink',
    paths: [
      ['decisions', 'sinks'],
      ['decisions', 'enabled'],
    ],
    check: ({ decisions }) =>
      decisions.sinks.length > 0 && !decisions.enabled
        ? 'sinks receive the stored decisions: set decisions.enabled: true, or remove decisions.sinks'
        : undefined,
  },
  {
    code: 'contradicting_sink',
    paths: [['decisions', 'sinks']],
    check: ({ decisions }) =>
      decisions.sinks.flatMap((sink) =>
        sink.type === 'file' ? [] : problemsOfServer(`sink ${sink.name}`, sink),
      )[0],
  },
]

/** Rules about notifications. */
export const notificationChecks: readonly CrossCheck[] = [
  {
    code: 'duplicate_name',
    paths: [['notifications', 'channels']],
    check: ({ notifications }) =>
      repeated(
        'the name',
        notifications.channels.map(({ name }) => name),
      ),
  },
  {
    code: 'unknown_channel',
    paths: [
      ['notifications', 'rules'],
      ['notifications', 'channels'],
    ],
    check: ({ notifications: { channels, rules } }) => {
      const unknown = rules.find(({ channel }) => !channels.some(({ name }) => name === channel))
      return unknown && `no channel of notifications.channels is named ${unknown.channel}`
    },
  },
  {
    code: 'half_a_sign_in',
    paths: [['notifications', 'channels']],
    check: ({ notifications: { channels } }) => {
      const half = channels.find(
        (channel) =>
          channel.type === 'mail' && (channel.user === undefined) !== (channel.password === undefined),
      )
      return half && `channel ${half.name}: set both user and password`
    },
  },
]

type SourceConfig = Config['policies']['sources'][number]
/** The sign-in of a server. */
type ServerConfig = Pick<
  Extract<SourceConfig, { type: 'http' }>,
  'credentials' | 'signIn' | 'tlsCertificate' | 'tlsKey'
>

function problemsOfSource(source: SourceConfig): string[] {
  const isStaleTooSoon = source.staleAfterSeconds < source.maxDelaySeconds
  return [
    ...problemsOfServer(`source ${source.name}`, source),
    ...(isStaleTooSoon ? [`source ${source.name}: staleAfterSeconds is less than maxDelaySeconds`] : []),
  ]
}

/** Problems of the delays and the sign-in of a server, which `name` introduces. */
function problemsOfServer(
  name: string,
  server: Pick<SourceConfig, 'minDelaySeconds' | 'maxDelaySeconds'> & Partial<ServerConfig>,
): string[] {
  const { minDelaySeconds, maxDelaySeconds, credentials, signIn, tlsCertificate, tlsKey } = server
  const wrong: readonly (readonly [boolean, string])[] = [
    [minDelaySeconds > maxDelaySeconds, 'minDelaySeconds is greater than maxDelaySeconds'],
    [credentials !== undefined && signIn !== undefined, 'set either credentials or signIn'],
    [
      signIn?.type === 'aws' && !hasOneAccess({ ...signIn, type: 'cloudwatch' }),
      'signIn needs either accessKeyId and secretAccessKey, or accessKeyFrom',
    ],
    [(tlsCertificate === undefined) !== (tlsKey === undefined), 'set both tlsCertificate and tlsKey'],
  ]
  return wrong.flatMap(([isWrong, problem]) => (isWrong ? [`${name}: ${problem}`] : []))
}

/** Why values are not unique; undefined if they are. `what` names them. */
export function repeated(what: string, values: readonly string[]): string | undefined {
  const twice = [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
  return twice.length === 0 ? undefined : `${what} ${twice.join(', ')} is repeated`
}
