// A controller around the array, and the memories: it multiplies what stands in two files.
//
//   right.hex   [ROWS, TIME] int8, one number a line    moves right
//   other.hex   [COLS, TIME] (outputs stay: moves down) or [ROWS, COLS] (stays)
//   result.txt  "cycles N", then the result as it leaves: [ROWS, COLS] or [TIME, COLS] int32
//   states.txt  clock row column right down stay spare control, of every cell (if STATES)
//
// It knows no formula. It feeds a fold, watches the control bits that come out of the last cells,
// and goes on when they say that the array, or its spare registers, are free; it counts clocks.
module bench;
    parameter R = 4, C = 4, OUTPUTS_STAY = 1, SECOND = 0;
    parameter ROWS = 4, COLS = 4, TIME = 4, STATES = 0;
    localparam DOWN = (ROWS + R - 1) / R, ACROSS = (COLS + C - 1) / C, FOLDS = DOWN * ACROSS;
    localparam LINES = OUTPUTS_STAY ? ROWS : TIME;

    reg signed [7:0] right [0:ROWS*TIME-1];
    reg signed [7:0] other [0:COLS*(OUTPUTS_STAY ? TIME : ROWS)-1];
    reg signed [31:0] result [0:LINES*COLS-1];

    reg clk = 0;
    reg [32*R-1:0] west = 0;
    reg [4*R-1:0] west_control = 0;
    reg [32*C-1:0] north = 0, north_chain = 0;
    wire [32*C-1:0] south, south_chain;
    wire [4*C-1:0] control;  // of the lowest row
    array #(R, C, OUTPUTS_STAY, SECOND) dut(clk, west, west_control, north, north_chain,
                                            south, south_chain, control);
    wire [3:0] last = control[4*C-4 +: 4], corner = control[3:0];

    // Operands wait here: those of row i for i clocks, those of column j for j clocks.
    reg signed [31:0] late_west [0:R*R-1];
    reg [1:0] late_control [0:R*R-1];
    reg signed [31:0] late_north [0:C*C-1];

    integer begun = 0, loads = 0, loaded = 0, taken = 0;  // folds
    integer t = TIME, q = R, leaving = 0;                 // steps in a stream, a load, a drain
    integer last_busy = 0, last_shift = 0, corner_busy = 0, cycles = 0, collected = 0;
    integer clock = 0, i, j, d, file, states;
    integer count [0:C-1];
    reg take, shift;
    reg [32*C-1:0] bottom = 0;
    genvar gi, gj;

    initial begin
        $readmemh("right.hex", right);
        $readmemh("other.hex", other);
        if (STATES) states = $fopen("states.txt", "w");
        for (i = 0; i < LINES * COLS; i = i + 1) result[i] = 0;
        for (i = 0; i < R * R; i = i + 1) begin late_west[i] = 0; late_control[i] = 0; end
        for (j = 0; j < C * C; j = j + 1) late_north[j] = 0;
        for (j = 0; j < C; j = j + 1) count[j] = 0;
        decide;
        feed;
        forever #1 clk = ~clk;
    end

    always @(negedge clk) begin
        clock = clock + 1;
        observe;
        if (collected == C * FOLDS * (OUTPUTS_STAY ? R : TIME)) finish;
        else begin decide; feed; end
    end

    // What the last cells say after a clock, and what leaves the array at the bottom.
    task observe; begin
        last_busy = last_busy + last[0];
        last_shift = last_shift + last[2];
        corner_busy = corner_busy + corner[0];
        if (last[0] || (last[2] && OUTPUTS_STAY && !SECOND)) cycles = clock;
        for (j = 0; j < C; j = j + 1)
            if (control[4*j + (OUTPUTS_STAY ? 2 : 0)]) collect(j);
        bottom = south_chain;
    end endtask

    task collect(input integer column); integer fold, line, place; begin
        fold = count[column] / (OUTPUTS_STAY ? R : TIME);
        place = count[column] % (OUTPUTS_STAY ? R : TIME);
        line = OUTPUTS_STAY ? (fold % DOWN) * R + R - 1 - place : place;
        place = (fold / DOWN) * C + column;
        if (line < LINES && place < COLS)
            result[line*COLS + place] = result[line*COLS + place]
                + (OUTPUTS_STAY ? bottom[32*column +: 32] : south[32*column +: 32]);
        count[column] = count[column] + 1;
        collected = collected + 1;
    end endtask

    // Which fold may begin to load, to stream or to leave in the next clock.
    task decide; begin
        if (q < R) begin
            q = q + 1;
            if (q == R) loaded = loaded + 1;
        end
        if (t < TIME) t = t + 1;
        if (t == TIME && begun < FOLDS && ready(0)) begin t = 0; begun = begun + 1; end
        if (!OUTPUTS_STAY && q == R && loads < FOLDS && loads == begun
            && (SECOND || last_busy == TIME * begun)) begin q = 0; loads = loads + 1; end
        shift = leaving > 0;
        if (leaving > 0) leaving = leaving - 1;
        take = OUTPUTS_STAY && taken < begun && corner_busy == TIME * (taken + 1);
        if (take) begin
            taken = taken + 1;
            leaving = SECOND ? R : R - 1;
            if (!SECOND) shift = 1;
        end
    end endtask

    function ready(input unused);
        if (!OUTPUTS_STAY) ready = loaded > begun;
        else if (SECOND) ready = last_busy == TIME * begun;
        else ready = last_shift == R * begun;
    endfunction

    // Drive the edges: the streams through the lines in which they wait, control bits directly.
    task feed; integer row; begin
        for (i = 0; i < R; i = i + 1) begin
            for (d = i; d > 0; d = d - 1) begin
                late_west[i*R + d] = late_west[i*R + d - 1];
                late_control[i*R + d] = late_control[i*R + d - 1];
            end
            row = ((begun - 1) % DOWN) * R + i;
            late_west[i*R] = t < TIME && row < ROWS ? right[row*TIME + t] : 0;
            late_control[i*R] = {t == 0, t < TIME};
            west[32*i +: 32] = late_west[i*R + i];
            west_control[4*i +: 4] = {take && SECOND != 0,
                OUTPUTS_STAY ? shift : q < R && i <= q, late_control[i*R + i]};
        end
        for (j = 0; j < C; j = j + 1) begin
            for (d = j; d > 0; d = d - 1) late_north[j*C + d] = late_north[j*C + d - 1];
            late_north[j*C] = OUTPUTS_STAY ? streamed(j) : stationary(j);
            north[32*j +: 32] = OUTPUTS_STAY ? late_north[j*C + j] : 0;
            north_chain[32*j +: 32] = OUTPUTS_STAY ? 0 : late_north[j*C + j];
        end
    end endtask

    function signed [31:0] streamed(input integer j); integer col; begin
        col = ((begun - 1) / DOWN) * C + j;
        streamed = t < TIME && col < COLS ? other[col*TIME + t] : 0;
    end endfunction

    function signed [31:0] stationary(input integer j); integer row, col; begin
        row = ((loads - 1) % DOWN) * R + R - 1 - q;
        col = ((loads - 1) / DOWN) * C + j;
        stationary = q < R && row < ROWS && col < COLS ? other[row*COLS + col] : 0;
    end endfunction

    task finish; begin
        file = $fopen("result.txt", "w");
        $fwrite(file, "cycles %0d\n", cycles);
        for (i = 0; i < LINES * COLS; i = i + 1) $fwrite(file, "%0d\n", result[i]);
        $fclose(file);
        #1 $finish;
    end endtask

    generate
        for (gi = 0; gi < R; gi = gi + 1)
            for (gj = 0; gj < C; gj = gj + 1)
                always @(negedge clk) if (STATES)
                    $fwrite(states, "%0d %0d %0d %0d %0d %0d %0d %0d\n", $time / 2, gi, gj,
                        dut.row[gi].col[gj].pe.is.right, dut.row[gi].col[gj].pe.is.down,
                        dut.row[gi].col[gj].pe.is.stay, dut.row[gi].col[gj].pe.is.spare,
                        dut.row[gi].col[gj].pe.is.control);
    endgenerate
endmodule
