/** The kind of lease by which a replica says that it is alive; its key is the replica. */
export const REPLICA = 'replica'
