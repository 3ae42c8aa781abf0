/** Environment variables of the commands that talk to a running service; they set no key of the configuration. */
export const CLIENT_VARIABLES = { url: 'TIDEGATE_URL', token: 'TIDEGATE_TOKEN' } as const
