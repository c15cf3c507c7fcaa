/** Tables of replicas and leases. See docs/fleet.md#leases. */

/**
 * A lease is valid while its holder's row in `replica` has not expired, so a renewal changes one row. The
 * epochs of a lease only grow, also when its row was removed and is added again.
 */
export const LEASE_LAYOUT = `CREATE TABLE replica (
  id TEXT COLLATE "C" PRIMARY KEY, version TEXT COLLATE "C" NOT NULL, address TEXT COLLATE "C" NOT NULL,
  weight DOUBLE PRECISION NOT NULL, is_draining INTEGER NOT NULL, started_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL, seen_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE lease (
  name TEXT COLLATE "C" PRIMARY KEY, holder TEXT COLLATE "C" REFERENCES replica ON DELETE SET NULL,
  epoch BIGINT NOT NULL, since TIMESTAMPTZ NOT NULL
);
CREATE INDEX lease_holder ON lease (holder);`;

/**
 * Selects one row if the lease (name, epoch) is held by a replica that is alive. Until the end of the transaction nobody
 * can claim, release or evict it.
 */
export const FENCE = `SELECT 1 AS held FROM lease JOIN replica ON replica.id = lease.holder
  WHERE lease.name = ? AND lease.epoch = ? AND replica.expires_at > clock_timestamp() FOR SHARE OF lease`;
