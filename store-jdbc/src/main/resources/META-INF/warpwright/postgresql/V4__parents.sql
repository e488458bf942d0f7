-- Of which run a run is a child, in its scope. That of earlier runs is taken from their first event,
-- where it is the last member but one, or the last: nothing of the program's own can stand there.
-- What is cut out of the body for that may begin inside a character, which is none in that encoding.

ALTER TABLE ww_run ADD COLUMN parent_run_id TEXT COLLATE "C";

UPDATE ww_run r SET parent_run_id = found.parent
  FROM (
    SELECT run,
           substring(
             convert_from(substring(body FROM greatest(1, length(body) - 999)), 'LATIN1')
             FROM '"parent":"([A-Za-z0-9_.:-]+)"(?:,"life":[{][^{}]*[}])?[}]$') AS parent
      FROM ww_event WHERE sequence = 1 AND type = 'RunStarted' AND codec = 1) found
  WHERE r.id = found.run AND found.parent IS NOT NULL;
