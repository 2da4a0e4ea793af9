package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gitfor/gitfor/db/parcel"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// raw runs fn with the transaction's own connection, for COPY.
func (t *tx) raw(fn func(conn *pgx.Conn) error) error {
	var inner error
	err := t.conn.Raw(func(driver any) error {
		inner = fn(driver.(*stdlib.Conn).Conn())
		return nil
	})
	return errors.Join(err, inner)
}

func ident(names ...string) string { return pgx.Identifier(names).Sanitize() }

func columnList(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = ident(c)
	}
	return strings.Join(quoted, ", ")
}

// tablesOf lists the tables of a schema with the columns that hold data, in
// the order in which they were made: what a foreign key points to comes first.
func tablesOf(ctx context.Context, conn *pgx.Conn, schemaName string) ([]parcel.Table, error) {
	rows, err := conn.Query(ctx, `SELECT c.relname::text, array_agg(a.attname::text ORDER BY a.attnum)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition
		GROUP BY c.oid, c.relname ORDER BY c.oid`, schemaName)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t parcel.Table, err error) {
		err = row.Scan(&t.Name, &t.Columns)
		return t, err
	})
}

// copyOut writes the rows of the table of this qualified name into the parcel
// as those of t. where is a condition with
// its WHERE, or "".
func copyOut(ctx context.Context, conn *pgx.Conn, w *parcel.Writer, t parcel.Table, name []string, where string) error {
	if err := w.Table(t); err != nil {
		return err
	}
	sql := fmt.Sprintf("COPY (SELECT %s FROM %s %s) TO STDOUT", columnList(t.Columns), ident(name...), where)
	tag, err := conn.PgConn().CopyTo(ctx, w, sql)
	if err != nil {
		return fmt.Errorf("copy %s out: %w", t.Name, err)
	}
	return w.EndTable(tag.RowsAffected())
}

// copyIn writes the tables that r gives into those that are there under the
// qualified name that place gives.
func copyIn(ctx context.Context, conn *pgx.Conn, r *parcel.Reader, place func(table string) []string) error {
	for {
		t, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		sql := fmt.Sprintf("COPY %s (%s) FROM STDIN", ident(place(t.Name)...), columnList(t.Columns))
		tag, err := conn.PgConn().CopyFrom(ctx, r, sql)
		if err != nil {
			return fmt.Errorf("copy %s in: %w", t.Name, err)
		}
		if err := r.EndTable(tag.RowsAffected()); err != nil {
			return err
		}
	}
}
