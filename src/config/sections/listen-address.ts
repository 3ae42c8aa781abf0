import ipaddr from 'ipaddr.js'

/** Where a server listens. */
export interface ListenAddress {
  /** A name or an IP address, without the brackets of IPv6. */
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
}

const ADDRESS = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:[\]\s]+)):(?<port>\d{1,5})$/

/** Reads `HOST:PORT` or `[::1]:PORT`; undefined when the text is neither. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const groups = ADDRESS.exec(text)?.groups
  if (groups === undefined) return undefined
  const { bracketed, plain } = groups
  const port = Number(groups['port'])
  const host = bracketed ?? plain ?? ''
  if (port > 65_535 || (bracketed !== undefined && !ipaddr.IPv6.isValid(bracketed))) return undefined
  return { host, port }
}

/** Whether only programs on this machine can reach the host. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback'
}
